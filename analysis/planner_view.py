"""The planner: from a pilot's spread, or this study's, to the number of histories."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.http import urlencode

from analysis import page_tables as pt
from analysis.calibration import calibration_of
from analysis.calibration import spreads as calibration_spreads
from analysis.page_parts import Asked, Chart, Field, PartPage, Section, direction_words
from analysis.page_tables import Column, PageTable
from analysis.part_charts import points
from analysis.stats.planning import SampleSize, plan_sample, power_curve
from analysis.swap_words import name_of
from experiments.models import Study
from stores.counting import count_of

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 1024)
POWERS = (0.80, 0.90, 0.95)
PP_LIMIT = 1000.0
COLUMNS = (
    Column("spread", "Spread from"), Column("sd", "Spread (SD), pp", True),
    Column("effect", "True effect, pp", True), Column("margin", "Margin, pp", True),
    Column("distance", "Distance above the margin, pp", True),
    *(Column(f"n_{power:.0%}", f"Histories for power {power:.0%}", True) for power in POWERS),
    Column("warning", "Beware"),
)  # fmt: skip

# The smaller of the two spreads that the paper sized its study with (sd 0.121: 48 histories).
PAPER_SD_PP = 12.1


def build(asked: Asked) -> PartPage:
    """Return the page; effect, margin and spread come from the address, or from the study."""
    settings = asked.report["settings"]
    calibrated = dict(_calibrated(asked.study))
    known = {**calibrated, **dict(spreads(asked.report))}
    # What the calibration found before the study is what a study is sized with.
    source = asked.chosen("from", list(known)) or next(iter(calibrated), "")
    default_sd = known[source][0] if source else None
    spread = "Spread across histories (SD), pp"
    spread += "" if default_sd else ": the paper’s until you know yours"
    fields = {
        "effect": _field(asked, "effect", "True effect, pp", 2 * settings["margin_pp"]),
        "margin": _field(asked, "margin", "Margin, pp", settings["margin_pp"]),
        "sd": _field(asked, "sd", spread, default_sd or PAPER_SD_PP),
        "power": _field(asked, "power", "Power, %", 80.0, low=1.0, high=99.9),
    }
    effect, margin, sd, power = (float(fields[name].value) for name in fields)
    coverage = lowest_coverage(asked.report)
    asked_for = plan_sample(effect_pp=effect, margin_pp=margin, sd_pp=sd, power=power / 100,
                            coverage=coverage)  # fmt: skip
    return PartPage(
        "Planner",
        "How many histories a study needs, so that the margin test finds an effect of a given "
        "size. Only the distance above the margin counts: at a true effect equal to the margin "
        "the test finds it no more often than its α, however large the study.",
        tuple(s for s in (_answer(asked_for), _study(known, effect, margin, coverage)) if s),
        fields=tuple(fields.values()),
    )


def _field(asked: Asked, name: str, label: str, default: float, *, low: float = 0.0,
           high: float = PP_LIMIT) -> Field:  # fmt: skip
    written = asked.query.get(name, "").replace(",", ".").strip()
    try:
        value = float(written) if written else default
    except ValueError:
        value = math.nan
    if not low <= value <= high:
        wrong = f"{written!r} is no number between {low:g} and {high:g}; taken: {default:g}"
        return Field(name, label, f"{default:g}", wrong)
    return Field(name, label, f"{value:.6g}")


def spreads(report: Mapping[str, Any]) -> Iterator[tuple[str, tuple[float, int]]]:
    """The spreads across histories that a report holds: (SD in pp, histories) by name."""
    for contrast in (report.get("planned_tests") or {}).get("contrasts", ()):
        sd = contrast["estimate"]["sd"]["value"]
        if sd:
            yield contrast["key"], (sd, contrast["estimate"]["n_histories"])
    for direction in report["directions"]:
        for entry in direction["formats"]:
            sd = entry["swap_delta_pp"].get("sd", {}).get("value")
            if entry["written"] and sd:
                name = f"swap delta, {name_of(entry).lower()}, {direction_words(direction)}"
                yield name, (sd, entry["swap_delta_pp"]["n_histories"])


def _calibrated(study: Study) -> Iterator[tuple[str, tuple[float, int]]]:
    """The spreads that the study's calibration left for the planner, as in `spreads`."""
    found = calibration_of(study)
    for spread in calibration_spreads(found) if found is not None else ():
        if spread.sd_pp:
            yield f"{spread.contrast}, calibration histories", (spread.sd_pp, spread.n_histories)


def lowest_coverage(report: Mapping[str, Any]) -> float | None:
    """The lowest share of evidence that a writer kept; None where it is not known."""
    shares = [row["share"] for row in report["coverage"] if row["share"] is not None]
    return min(shares, default=None)


def _answer(found: SampleSize) -> Section:
    n = found.n_histories.value
    words = (f"{count_of(round(n), 'history')} {'gives' if n == 1 else 'give'} a power of "
             f"{100 * (found.power_reached.value or 0):.0f} % "
             f"at a true effect of {found.effect_pp:g} pp: {found.distance_pp:g} pp above the "
             f"margin of {found.margin_pp:g} pp, with a spread of {found.sd_pp:g} pp"
             if n is not None
             else f"No number of histories can be named: {found.n_histories.reason}")  # fmt: skip
    sizes = [size for size in SIZES if n is None or size <= max(64, 4 * n)]
    series = []
    for label, distance in (
        ("as asked", found.distance_pp), ("half the distance", found.distance_pp / 2),
        ("at the margin: power is α", 0.0),
    ):  # fmt: skip
        curve = power_curve(sizes, sd_pp=found.sd_pp, distance_pp=distance)
        series.append((label, [
            (size, round(power, 4),
             f"{count_of(size, 'history')}: power {100 * power:.0f} %, {label}", "")
            for size, power in curve
        ]))  # fmt: skip
    figure = points(series, x="histories", y="power: how often the test finds the effect",
                    findings=(words,), joined=True, log_x=True,
                    lines=[(f"wanted: {100 * found.power:g} %",
                            [(sizes[0], found.power), (sizes[-1], found.power)])])  # fmt: skip
    figure["layout"]["yaxis"]["range"] = [0, 1.02]
    figure["layout"]["xaxis"]["tickvals"] = list(sizes)
    rows = tuple(
        {"n": pt.count(size), **{
            f"power_{at}": pt.number(marks[place][1], pt.percent)
            for at, (_, marks) in enumerate(series)}}
        for place, size in enumerate(sizes)
    )  # fmt: skip
    powers = [Column(f"power_{at}", f"Power {name}", True) for at, (name, _) in enumerate(series)]
    columns = (Column("n", "Histories", True), *powers)
    return Section("Histories, and the power they give", (words,),
                   Chart(figure, "power", "Power against the number of histories; the table below "
                         "holds the same numbers."),
                   (PageTable("power", "Power by number of histories", columns, rows),),
                   ("One-sided α of 0.025, from the noncentral t distribution. Smallest n with "
                    "n ≥ ((t + z) · SD / d)².",),
                   tuple(f"{w[:1].upper()}{w[1:]}." for w in found.warnings))  # fmt: skip


def _study(known: Mapping[str, tuple[float, int]], effect: float, margin: float,
           coverage: float | None) -> Section | None:  # fmt: skip
    if not known:
        return None
    rows = []
    for name, (sd, n) in known.items():
        query = urlencode({"from": name, "effect": f"{effect:g}", "margin": f"{margin:g}"})
        row = {
            "spread": pt.text(name, note=count_of(n, "history"), url=f"?{query}"),
            "sd": pt.number(sd, lambda value: f"{value:.1f} pp"),
            "effect": pt.number(effect, lambda value: f"{value:g} pp"),
            "margin": pt.number(margin, lambda value: f"{value:g} pp"),
            "distance": pt.number(effect - margin, lambda value: f"{value:g} pp"),
        }  # fmt: skip
        for power in POWERS:
            found = plan_sample(effect_pp=effect, margin_pp=margin, sd_pp=sd, power=power)
            row[f"n_{power:.0%}"] = pt.number(found.n_histories.as_json(), lambda v: f"{v:,.0f}")
        if n < 8:
            row["warning"] = pt.text("a spread from so few histories is itself uncertain")
        rows.append(row)
    warnings: tuple[str, ...] = ()
    if coverage is None:
        warnings = ("The evidence that each writer kept was not measured here: a spread that "
                    "comes from a broken writer asks for far too many histories.",)  # fmt: skip
    return Section("From the spreads of this study and its calibration", (), None,
                   (PageTable("spreads", "Histories by spread", COLUMNS, tuple(rows)),),
                   ("Choose a spread to draw its curve above.",), warnings)  # fmt: skip
