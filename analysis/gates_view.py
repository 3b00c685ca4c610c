"""The page of gates and the noise floor: each with its figure, its bound and its consequence."""

from collections.abc import Mapping
from typing import Any

from analysis import page_tables as pt
from analysis.labels import FORMAT_NAMES, KIND_NAMES
from analysis.page_parts import Asked, Chart, PartPage, Section, direction_words, is_unplanned
from analysis.page_tables import Column, PageTable
from analysis.part_charts import Mean, Strip, strips
from analysis.swap_words import in_words

MEANING = {
    "floor": "without any memory the reader must score near chance: else the answers leak",
    "ceiling": "with the raw evidence at hand the reader must do no worse than normally",
    "dose": "the more evidence is corrupted, the lower the accuracy",
    "range": "ceiling minus floor must leave room to see a loss, for every probe kind",
    "coverage": "the writer’s notes must keep enough of the evidence",
}
# The sign and its word stay on one line.
STATES = {"passed": "✓\u00a0passed", "failed": "✗\u00a0failed",
          "not measured": "–\u00a0not measured"}  # fmt: skip


def build(asked: Asked) -> PartPage:
    """Return the page."""
    gates = asked.report.get("gates")
    if gates is None:
        return PartPage("Gates and noise floor", "", missing="There are no answers yet.")
    return PartPage(
        "Gates and noise floor",
        "What must hold before any of the other numbers counts, and how far equal things differ.",
        (gates_section(asked), _noise(asked)),
    )


def consequence(gate: Mapping[str, Any], policy: Mapping[str, str]) -> str:
    """What the state of one gate means for the verdicts; `policy` is the plan's, gate by gate."""
    if gate["status"] == "passed":
        return "none"
    if gate["status"] == "not measured":
        return "said beside every verdict"
    whose = "of this reader"
    if gate["writer"]:
        whose = "that rest on this writer’s notes"
    if policy[gate["gate"]] == "mark":
        return f"marked beside the verdicts {whose}"
    return f"withholds the verdicts {whose}"


def gates_section(asked: Asked) -> Section:
    """Every gate with its figure, its bound and its consequence."""
    gates, policy = asked.report["gates"], asked.report["settings"]["gates"]
    rows = [
        {
            "gate": pt.text(gate["gate"], note=MEANING.get(gate["gate"], "")),
            "state": pt.text(STATES.get(gate["status"], gate["status"])),
            "of": pt.text(_of(gate)),
            "figure": pt.number(gate["figure"], pt.fraction),
            "bound": pt.text(str(gate["bound"])),
            "consequence": pt.text(consequence(gate, policy)),
            "reason": pt.text(gate["reason"]),
        }
        for gate in gates["each"]
    ]
    columns = (
        Column("gate", "Gate"), Column("state", "State"), Column("of", "Of"),
        Column("figure", "Figure", True), Column("bound", "Needs"),
        Column("consequence", "Consequence"), Column("reason", "Found"),
    )  # fmt: skip
    findings = tuple(
        f"{name[:1].upper()}{name[1:]}: {state}" for name, state in gates["by_gate"].items()
    )
    words = {"mark": "A gate that fails is marked beside the verdicts.",
             "stop": "A gate that fails withholds the verdicts of its reader."}  # fmt: skip
    says = f"What a failure does is the plan’s: {gates['consequence']}."
    return Section("Gates", (". ".join(findings),), None,
                   (PageTable("gates", "Gates", columns, tuple(rows)),),
                   (words.get(gates["consequence"], says),))  # fmt: skip


def _of(gate: Mapping[str, Any]) -> str:
    parts = [
        gate["reader"], f"written by {gate['writer']}" if gate["writer"] else "",
        FORMAT_NAMES.get(gate["format"], gate["format"]),
        KIND_NAMES.get(gate["kind"], gate["kind"]),
    ]  # fmt: skip
    return ", ".join(part for part in parts if part) or "all"


def _noise(asked: Asked) -> Section:
    noise = asked.report["noise_floor_pp"]
    margin = asked.report["settings"]["margin_pp"]
    if noise["value"] is None:
        return Section("Noise floor", (f"{noise['reason'][:1].upper()}{noise['reason'][1:]}",),
                       warnings=("Without live repeats nobody knows how far equal cells differ: "
                                 "an effect of a few tenths of a point may be none.",))  # fmt: skip
    finding = f"Live repeats of the same cell differ by {noise['value']:.2f} pp in the mean"
    rows, strip_rows = [], [Strip("noise floor", "noise floor", (), Mean(
        noise["value"], noise.get("low"), noise.get("high"), finding))]  # fmt: skip
    for direction in asked.report["directions"]:
        for entry in direction["formats"]:
            delta = entry["swap_delta_pp"]["value"]
            if not entry["written"] or delta is None:
                continue
            below = abs(delta) < noise["value"]
            label = f"{direction_words(direction)}, {in_words(entry)}"
            size = Mean(abs(delta), None, None, f"{label}: {abs(delta):.2f} pp")
            says = "smaller than the noise floor" if below else "above the noise floor"
            rows.append({
                "effect": pt.text(label), "planned": pt.planned(entry),
                "delta": pt.number(delta, pt.pp),
                "noise": pt.number(noise["value"], lambda value: f"{value:.2f} pp"),
                "says": pt.text(says),
            })  # fmt: skip
            strip_rows.append(Strip(label, "size of the swap delta", (), size))
    columns = (
        Column("effect", "Swap delta of"), pt.PLANNED, Column("delta", "Swap delta, pp", True),
        Column("noise", "Noise floor, pp", True), Column("says", "Says"),
    )  # fmt: skip
    figure = strips(strip_rows, axis="size, pp", findings=(finding,), margin=margin)
    return Section("Noise floor", (finding,),
                   Chart(figure, "noise-floor", "The noise floor beside the size of every swap "
                         "delta; the table below holds the same numbers."),
                   (PageTable("noise", "Effects and the noise floor", columns, tuple(rows)),),
                   (f"“Safe” needs a noise floor below the margin of {margin:g} pp; a claim of "
                    "loss or gain needs an effect above the noise floor.",),
                   unplanned=is_unplanned(asked.report, "noise_floor"))  # fmt: skip
