"""The writer-swap section of a report: every direction and format with its verdict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from analysis import words
from analysis.planning import swap_is_planned
from analysis.settings import Settings
from analysis.stats.cells import Cube
from analysis.stats.figures import Estimate, Figure, Interval
from analysis.stats.gates import Gate
from analysis.stats.inference import LEVEL
from analysis.stats.swap import Swap, directions_of, formats_of, masks_by, writer_swap
from analysis.stats.verdicts import Verdict, judge
from stores.counting import count_of, was_or_were

# Beyond these accuracies losses are skewed; docs/statistics.md tells how often "safe" is wrong.
NEAR_0, NEAR_1 = 0.15, 0.93
SKEWED = (
    'accuracies this close to 0 or 1 are skewed: a "safe" this close to the margin is wrong more '
    "often than one time in forty (docs/statistics.md)"
)
NO_INTERVAL = Interval(None, None, LEVEL, "none", "nobody writes this store")


@dataclass(frozen=True, slots=True)
class Damage:
    """A store whose content no longer matches its checksum; `words` names it in a sentence."""

    format: str
    embedder: str
    writer: str
    words: str


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What surrounds the numbers of a study.

    Attributes
    ----------
    gates
        Every gate, measured or not.
    noise
        The noise floor, pp.
    unfinished
        Why there can be no verdict yet; empty once the runs have ended.
    damaged
        Stores that were changed after they were made.
    beside
        What must stand beside every verdict.
    """

    gates: Sequence[Gate]
    noise: Estimate
    unfinished: str = ""
    damaged: tuple[Damage, ...] = ()
    beside: tuple[str, ...] = ()


def section(cube: Cube, settings: Settings, circumstances: Circumstances) -> list[dict[str, Any]]:
    """Return one entry per direction, each with one per format."""
    directions = settings.directions or directions_of(cube)
    return [
        {
            "old": old,
            "new": new,
            "formats": [
                _format(cube, form, old, new, settings, circumstances) for form in formats_of(cube)
            ],
        }
        for old, new in directions
    ]


def _format(
    cube: Cube, form: Any, old: str, new: str, settings: Settings, around: Circumstances
) -> dict[str, Any]:
    planned = swap_is_planned(settings, format_name=form.name, old=old, new=new)
    swap = writer_swap(cube, form, old=old, new=new, chance=settings.chance, planned=planned)
    verdict = _verdict(swap, settings, around)

    def breakdown(names: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": name,
                "probes": int(mask.sum()),
                **_part(cube, form, old, new, settings, mask),
            }
            for name, mask in masks_by(names)
        ]

    return {
        "format": form.name,
        "format_name": words.format_name(form.name),
        "embedder": form.embedder,
        "written": form.written,
        "planned": planned,
        **swap.figures(),
        "verdict": {
            **verdict.as_json(),
            "heading": words.heading(verdict),
            "sentence": words.sentence(swap, verdict, margin_pp=settings.margin_pp),
            "service_sentence": words.service_words(swap, verdict),
            "margin_pp": settings.margin_pp,
        },
        "by_kind": breakdown(cube.kinds),
        "by_memory_class": breakdown(cube.memory_classes),
    }


def _part(
    cube: Cube, form: Any, old: str, new: str, settings: Settings, mask: Any
) -> dict[str, Any]:
    part = writer_swap(
        cube, form, old=old, new=new, chance=settings.chance, mask=mask, keep_values=False
    ).figures()
    return {name: part[name] for name in ("before", "own", "inherited", "swap_delta_pp")}


def _verdict(swap: Swap, settings: Settings, around: Circumstances) -> Verdict:
    concerned = [
        gate
        for gate in around.gates
        if gate.concerns(
            format_name=swap.format.name,
            reader=swap.new,
            writers=frozenset({swap.old, swap.new}) if swap.format.written else frozenset(),
        )
    ]
    failed = [gate for gate in concerned if gate.status == "failed"]
    unmeasured = sorted({gate.name for gate in concerned if gate.status == "not measured"})
    beside = list(around.beside)
    if failed:
        beside += [gate.sentence() for gate in failed]
    if unmeasured:
        beside.append(f"gates not measured: {', '.join(unmeasured)}")
    beside.append(_noise_words(around.noise))
    delta, noise = swap.swap_delta_pp.value, around.noise.value
    if delta is not None and noise is not None and abs(delta) < noise:
        beside.append("the change is smaller than the noise floor")
    if not swap.format.written:
        beside += filter(None, [_damage(swap, around)])
        none = Figure.undefined("a writer swap does not affect it")
        return Verdict("not_affected", NO_INTERVAL, False, none, "", tuple(beside))
    verdict = judge(
        swap.swap_delta_pp,
        margin_pp=settings.margin_pp,
        discordant=swap.discordant,
        noise_floor_pp=around.noise.figure,
        withheld_because=_withheld(swap, settings, around, failed),
        beside=tuple(beside),
    )
    if _skewed(swap, verdict, settings):
        return replace(verdict, reason=SKEWED, beside=(*verdict.beside, SKEWED))
    return verdict


def _skewed(swap: Swap, verdict: Verdict, settings: Settings) -> bool:
    """Whether a t interval near 0 or 1 may be too short for a "safe" this close to the margin."""
    if verdict.outcome != "safe" or verdict.interval.low is None:
        return False
    means = [mean.value for mean in (swap.own, swap.inherited) if mean.value is not None]
    extreme = any(not NEAR_0 <= mean <= NEAR_1 for mean in means)
    return extreme and verdict.interval.low < -settings.margin_pp / 2


def _withheld(swap: Swap, settings: Settings, around: Circumstances, failed: list[Gate]) -> str:
    if around.unfinished:
        return around.unfinished
    if damage := _damage(swap, around):
        return damage
    if swap.unscored:
        return f"{count_of(swap.unscored, 'answer')} {was_or_were(swap.unscored)} never scored"
    stopping = [gate for gate in failed if settings.gates.consequence(gate.name) == "stop"]
    if stopping:
        return "; ".join(gate.sentence() for gate in stopping)
    return ""


def _damage(swap: Swap, around: Circumstances) -> str:
    """Name the damaged stores that this comparison rests on."""
    writers = ("",) if not swap.format.written else (swap.old, swap.new)
    form = (swap.format.name, swap.format.embedder)
    return "; ".join(
        damage.words
        for damage in around.damaged
        if (damage.format, damage.embedder) == form and damage.writer in writers
    )


def _noise_words(noise: Estimate) -> str:
    if noise.value is None:
        return "noise floor not measured"
    return f"noise floor {noise.value:.2f} pp, from live repeats"
