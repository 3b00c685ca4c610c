"""Arrays of answers come back from their text exactly as they went in."""

import json

import numpy as np

from analysis.arrays import to_cube
from analysis.cube_store import pack, unpack
from tools.simulated import answers


def test_a_cube_comes_back_exactly():
    frame = answers(histories=3, probes=25)
    cube = to_cube(frame.assign(rung=frame["rung"].fillna(0)))
    again = unpack(json.loads(json.dumps(pack(cube))))
    assert again.cells == cube.cells
    assert again.histories == cube.histories
    assert again.probe_keys == cube.probe_keys
    for name in ("starts", "screening", "correct"):
        assert np.array_equal(getattr(again, name), getattr(cube, name))
    for name in ("kinds", "memory_classes"):
        assert getattr(again, name).tolist() == getattr(cube, name).tolist()
    for name in ("rank", "recall", "costs"):
        mine, theirs = getattr(again, name), getattr(cube, name)
        assert mine.keys() == theirs.keys()
        assert all(np.array_equal(mine[key], theirs[key], equal_nan=True) for key in theirs)
