from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import tdict

ARRAYS = {
    "age": np.array([54], dtype=np.uint8),
    "obs.x": torch.arange(6, dtype=torch.bfloat16).reshape(2, 3).T,
    "n": 7,
    "none": torch.zeros(0, 3),
    "bit": torch.tensor([True, False]),
    "u": np.array([1, 2], dtype=np.uint32),
}


def test_frames() -> None:
    out = io.BytesIO()
    for _ in range(2):
        tdict.write_sample(out, ARRAYS)
    data = out.getvalue()
    length = int.from_bytes(data[:8], "little")
    assert data[: 8 + length] == data[8 + length :]
    text = data[16 : 16 + int.from_bytes(data[8:16], "little")]
    header = json.loads(text)
    assert header["obs.x"] == {"dtype": "BF16", "shape": [3, 2], "data_offsets": [1, 13]}
    assert header["n"]["dtype"] == "I64" and header["n"]["shape"] == []
    assert length == 8 + len(text) + header["u"]["data_offsets"][1]
    values = data[16 + len(text) :][1:13]
    got = torch.frombuffer(bytearray(values), dtype=torch.bfloat16).tolist()
    assert got == [0, 3, 1, 4, 2, 5]


def test_views_that_negate() -> None:
    z = torch.tensor([1 + 2j])
    for view, want in (z.conj(), z.conj().clone().resolve_conj()), (z.conj().imag, torch.tensor([-2.0])):
        out, same = io.BytesIO(), io.BytesIO()
        tdict.write_sample(out, {"x": view})
        tdict.write_sample(same, {"x": want})
        assert out.getvalue() == same.getvalue()


def test_what_is_no_sample() -> None:
    for arrays in ({"x": torch.zeros(2, dtype=torch.complex128)}, {"__metadata__": 1}, {1: 1}, {"t": tdict.text(["a"])}, {"t": tdict.text(["a"]).rows}):
        with pytest.raises(ValueError):
            tdict.write_sample(io.BytesIO(), arrays)


def test_cache_put(tmp_path: Path, tdict_command: Callable[..., str]) -> None:
    program = tmp_path / "draw.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(Path(tdict.__file__).parents[1])!r})\n"
        "import os, torch, tdict\n"
        "for number in range(int(os.environ['TDICT_NUMBER']), 4):\n"
        "    tdict.write_sample(sys.stdout.buffer, {'x': torch.full((2,), float(number)), 'obs.n': number})\n"
    )
    (tmp_path / "schema.json").write_text(
        json.dumps({"version": 1, "entries": [
            {"key": "x", "kind": "tensor", "dtype": "float32", "shape": [2]},
            {"key": "obs/n", "kind": "tensor", "dtype": "int64"},
        ]})
    )  # fmt: skip
    cache = tmp_path / "cache"
    tdict_command("cache", "create", cache, "--schema", tmp_path / "schema.json", "--samples", 4)
    tdict_command("cache", "put", cache, "--name", "gen", "--restart", 0, "--", sys.executable, "-W", "ignore", program)
    tdict_command("cache", "keep", cache, "latest", tmp_path / "kept")
    td = tdict.open(tmp_path / "kept")
    assert sorted(td["obs", "n"].tolist()) == [0, 1, 2, 3]
    assert torch.equal(td["x"], td["obs", "n"].float()[:, None].expand(4, 2))
