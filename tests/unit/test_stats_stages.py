"""The stage of a probe, and that single probes add up to the decomposition."""

import itertools

import numpy as np
import pytest

from analysis.stats.decomposition import COMPONENTS, decompose
from analysis.stats.stages import STAGES, patterns, stage_of
from tests.unit.answer_frames import cube

CELLS = [("alpha", "alpha"), ("alpha", "beta"), ("beta", "alpha"), ("beta", "beta")]


def test_every_pattern_has_one_stage():
    found = {
        answers: stage_of(normal=answers[0], stored=answers[1], raw=answers[2])
        for answers in itertools.product((False, True), repeat=3)
    }
    assert found == {
        (False, False, False): "reading",
        (False, False, True): "construction",
        (False, True, True): "retrieval",
        (True, True, True): "none",
        (True, True, False): "no stage",
        (True, False, False): "no stage",
        (True, False, True): "no stage",
        (False, True, False): "no stage",
    }


def cube_of(seed: int, *, n_histories: int = 7, n_probes: int = 9, unscored: bool = False):
    """Random answers of notes: four cells, normal and stored, raw evidence by reader."""
    rng = np.random.default_rng(seed)

    def answers(chance: float) -> dict[str, list[int | None]]:
        return {f"h{n}": [int(rng.random() < chance) for _ in range(n_probes)]
                for n in range(n_histories)}  # fmt: skip

    cells = []
    for writer, reader in CELLS:
        key = {"format": "notes", "writer": writer, "reader": reader}
        cells.append((key, answers(0.4)))
        cells.append(({**key, "condition": "stored_evidence"}, answers(0.6)))
    for reader in ("alpha", "beta"):
        key = {"format": "*", "reader": reader, "condition": "raw_evidence"}
        cells.append((key, answers(0.9)))
    if unscored:
        cells[0][1]["h0"][0] = None
    return cube(*cells)


@pytest.mark.parametrize("seed", range(4))
def test_components_add_up_to_the_total_for_every_history(seed):
    loss = decompose(cube_of(seed), "notes")
    parts = [loss.components[name].per_history.values for name in COMPONENTS]
    assert np.max(np.abs(sum(parts) - loss.total.per_history.values)) <= 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_single_probes_average_to_each_component_of_every_history(seed):
    answers = cube_of(seed)
    found, loss = patterns(answers, "notes"), decompose(answers, "notes")
    for name in COMPONENTS:
        signs = np.asarray(answers.per_history(found.signs(name).astype(np.int64)))
        by_history = signs.sum(axis=0) / (len(CELLS) * answers.probes_per_history)
        expected = loss.components[name].per_history.values
        assert np.max(np.abs(by_history - expected)) <= 1e-12
        counts = found.by_component()[name]
        assert counts["lost"] - counts["regained"] == signs.sum()


def test_a_component_counts_exactly_the_probes_that_it_lists():
    found = patterns(cube_of(1), "notes")
    for name, counts in found.by_component().items():
        listed = list(found.of(found.signs(name) != 0))
        assert len(listed) == counts["lost"] + counts["regained"]
        for one in listed:
            parts = {"retrieval": one.stored - one.normal, "construction": one.raw - one.stored,
                     "reader": 1 - one.raw}  # fmt: skip
            assert parts[name] != 0


def test_every_counted_probe_has_a_stage_and_each_list_is_as_long_as_its_count():
    found = patterns(cube_of(2), "notes")
    counts = found.by_stage()
    assert sum(counts.values()) == found.counted.sum() == 7 * 9 * 4
    for stage in STAGES:
        listed = found.of_stage(stage)
        assert len(listed) == counts[stage]
        assert {one.stage for one in listed} <= {stage}


def test_a_history_that_the_decomposition_leaves_out_is_not_counted():
    answers = cube_of(3, unscored=True)
    loss, found = decompose(answers, "notes"), patterns(answers, "notes")
    assert [left.history for left in loss.total.excluded] == ["h0"]
    assert {one.history for one in found.of(found.counted)} == {f"h{n}" for n in range(1, 7)}


def test_some_probes_alone_give_the_parts_of_a_kind():
    answers = cube_of(4)
    mask = np.zeros(len(answers.probe_keys), dtype=np.bool_)
    mask[::2] = True
    found = patterns(answers, "notes", mask=mask)
    assert found.counted.sum() == mask.sum() * 4
