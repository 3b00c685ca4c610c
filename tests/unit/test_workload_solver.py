"""Every synthetic probe is proven from the text of its evidence, and only from that."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.workload.generator import generate, generate_history
from stores.workload.parameters import PAPER, PRESETS, SMALL
from stores.workload.solver import fitting_codes, prove
from stores.workload.types import History

SEEDS = st.integers(min_value=0, max_value=2**63)


def assert_proven(history: History) -> None:
    everything = [event.text for event in history.events]
    for probe in history.probes:
        proof = prove(history, probe)
        assert proof.follows, (probe, proof)
        # Nothing outside of the evidence speaks for another code either.
        assert fitting_codes(probe.question, everything) == {probe.answer}
        assert proof.necessary == expected_necessary(history, probe)


def expected_necessary(history, probe):
    """The evidence that cannot be dropped, read from the events' fields."""
    ops = {key: history.event(key).fields["op"] for key in probe.evidence}
    if probe.kind == "contradiction":
        return tuple(key for key in ops if ops[key] == "correct")
    if probe.kind != "temporal":
        return probe.evidence
    if " at first?" in probe.question:
        return probe.evidence[:1]
    if " before the change " not in probe.question:
        return probe.evidence[-1:]
    position = next(
        i
        for i, key in enumerate(probe.evidence)
        if history.event(key).fields.get("source", "-") in probe.question
    )
    return probe.evidence[position - 1 : position + 1]


@given(seed=SEEDS, index=st.integers(0, 11), split=st.sampled_from(["study", "calibration"]))
@settings(max_examples=60, deadline=None)
def test_each_answer_of_a_tiny_history_follows_from_its_evidence_alone(seed, index, split):
    assert_proven(generate_history(PRESETS["tiny"], seed=seed, index=index, split=split))


@given(seed=SEEDS, index=st.integers(0, 7))
@settings(max_examples=12, deadline=None)
def test_each_answer_of_a_larger_history_follows_from_its_evidence_alone(seed, index):
    parameters = replace(SMALL, probes_per_kind=6, reuse_percent=80)
    assert_proven(generate_history(parameters, seed=seed, index=index))


def test_each_answer_of_a_history_at_the_papers_scale_follows_from_its_evidence_alone():
    history = generate_history(PAPER, seed=11, index=0)
    assert all(prove(history, probe).follows for probe in history.probes)


def test_every_way_to_ask_occurs_in_the_tiny_preset():
    questions = Counter(
        "now" if any(w in p.question for w in (" now?", " in the end?")) else
        "first" if " at first?" in p.question else "before"
        for history in generate("tiny", seed=7)
        for p in history.probes
        if p.kind == "temporal"
    )  # fmt: skip
    assert questions == {"now": 2, "first": 2, "before": 2}


@pytest.mark.parametrize(
    ("question", "texts", "codes"),
    [
        ("What is the gate code of Dovomb?", ["The gate code of Dovomb is AB-1234."], {"AB-1234"}),
        ("What is the gate code of Bralilk?", ["The gate code of Dovomb is AB-1234."], set()),
        ("What is the gate code of Bralilk?", ["The badge code of Bralilk is AB-1234."], set()),
        ("What is the gate code of Bralilk?", [], set()),
        ("Where is Bralilk?", ["The gate code of Bralilk is AB-1234."], set()),
        (
            "Which room does Bralilk prefer?",
            ["Dovomb reported: Bralilk prefers the room AB-1234.",
             "Kelurd reported: Bralilk prefers the room CD-5678."],
            {"AB-1234", "CD-5678"},
        ),
        (
            "Which room did Bralilk prefer before the change at the Kelurd audit?",
            ["Bralilk prefers the room AB-1234.",
             "Change at the Dovomb audit: Bralilk now prefers the room CD-5678."],
            set(),
        ),
        (
            "What is the gate code of the team of Bralilk's project?",
            ["Bralilk works on the project Dovomb.",
             "The project Dovomb belongs to the team Kelurd.",
             "The gate code of the team Kelurd is AB-1234."],
            {"AB-1234"},
        ),
        (
            "What is the gate code of Bralilk's team?",
            ["Bralilk works on the project Dovomb.",
             "The gate code of the project Dovomb is AB-1234."],
            set(),
        ),
    ],
)  # fmt: skip
def test_the_solver_says_what_the_texts_allow(question, texts, codes):
    assert fitting_codes(question, texts) == codes


def test_a_wrong_answer_is_not_proven():
    history = generate("tiny", seed=3)[0]
    probe = replace(history.probes[0], answer="ZZ-0000")
    assert not prove(history, probe).follows
