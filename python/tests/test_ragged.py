"""Ragged columns against lists of lists: whatever tensordict does is right, or raises."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tensordict import LazyStackedTensorDict, TensorDict
from torch.utils.data import DataLoader

import tdict

WORDS = ["", "a", "Émilie", "longer text", "b\n", "ß"]


def rows_of(rng: random.Random, n: int, levels: int) -> list[Any]:
    """n random rows of lists nested as deep as levels."""
    if levels == 0:
        return [rng.randrange(1000) for _ in range(n)]
    return [rows_of(rng, rng.choice([0, 0, 1, 2, 5]), levels - 1) for _ in range(n)]


def ragged_of(rows: list[Any], levels: int, batch: list[int] | None = None, **kw: Any) -> tdict.Ragged:
    lengths = []
    for _ in range(levels):
        lengths.append([len(r) for r in rows])
        rows = list(itertools.chain.from_iterable(rows))
    return tdict.ragged(torch.tensor(rows, dtype=kw.get("dtype", torch.int64)), *lengths, batch=batch)


def made(rng: random.Random, n: int) -> tuple[TensorDict, dict[str, list[Any]]]:
    """A dictionary of n rows, and the same as lists."""
    lists: dict[str, list[Any]] = {f"r{k}": rows_of(rng, n, k) for k in (1, 2, 3)}
    lists["t"] = [rng.choice(WORDS) for _ in range(n)]
    lists["x"] = [float(rng.randrange(9)) for _ in range(n)]
    td = TensorDict({f"r{k}": ragged_of(lists[f"r{k}"], k) for k in (1, 2, 3)}, [n])
    td["t"], td["x"] = tdict.text(lists["t"]), torch.tensor(lists["x"])
    return td, lists


def lists_of(td: TensorDict) -> dict[str, Any]:
    return {key: td[key].tolist() for key in td.keys()}


def test_random_selections(tmp_path: Path) -> None:
    rng = random.Random(7)
    for round in range(40):
        n = rng.choice([0, 1, 2, 5, 9])
        td, want = made(rng, n)
        for _ in range(4):
            td, pick = selection(rng, td)
            want = {key: pick(rows) for key, rows in want.items()}
            assert lists_of(td) == want
        if round % 4 == 0:
            td.memmap(tmp_path / str(round))
            again = tdict.open(tmp_path / str(round))
            assert lists_of(again) == want and again["t"].is_text


def selection(rng: random.Random, td: TensorDict) -> tuple[TensorDict, Callable[[list[Any]], list[Any]]]:
    n = len(td)
    a, b = sorted([rng.randint(0, n), rng.randint(0, n)])
    bits = [rng.random() < 0.6 for _ in range(n)]
    order = [rng.randrange(n) for _ in range(rng.randint(1, 6))] if n else []
    every: list[tuple[Callable[[], TensorDict], Callable[[list[Any]], list[Any]]]] = [
        (lambda: td[a:b], lambda x: x[a:b]),
        (lambda: td[torch.tensor(bits, dtype=torch.bool)], lambda x: list(itertools.compress(x, bits))),
        (lambda: torch.cat([td, td[a:b].clone()]), lambda x: x + x[a:b]),
        (lambda: torch.cat([pickle.loads(pickle.dumps(td[a:b])), td]), lambda x: x[a:b] + x),
        (lambda: td.clone(), lambda x: x),
        (lambda: td.flip(0), lambda x: x[::-1]),
    ]
    if n:
        every += [
            (lambda: td[order], lambda x: [x[i] for i in order]),
            (lambda: td[torch.tensor(order)], lambda x: [x[i] for i in order]),
            (lambda: torch.stack([td[i] for i in order]), lambda x: [x[i] for i in order]),
            (lambda: torch.stack(td.unbind(0)), lambda x: x),
            (lambda: torch.cat(td.split(2)), lambda x: x),
            (lambda: td.reshape(1, n)[0], lambda x: x),
            (lambda: td.unsqueeze(1).squeeze(1), lambda x: x),
            (lambda: td.expand(2, n)[1], lambda x: x),
            (lambda: td.gather(0, torch.tensor(order)), lambda x: [x[i] for i in order]),
        ]
    make, pick = rng.choice(every)
    return make(), pick


@pytest.mark.parametrize("workers", [0, 2])
def test_dataloader(workers: int) -> None:
    td, want = made(random.Random(1), 10)
    seen: list[str] = []
    for batch in DataLoader(td, 4, collate_fn=lambda x: x, num_workers=workers):
        seen += batch["t"].tolist()
        assert batch["r2"].tolist() == want["r2"][len(seen) - len(batch) : len(seen)]
    assert seen == want["t"]
    rows = DataLoader([td[i] for i in range(10)], 5, collate_fn=torch.stack)
    assert [t for batch in rows for t in batch["t"].tolist()] == want["t"]


@pytest.mark.parametrize(
    "op",
    [
        lambda td: td + 1, lambda td: td * td, lambda td: td.float(), lambda td: td.zero_(),
        lambda td: td.apply(lambda x: x + 1), lambda td: td.clone().fill_("t", 0),
        lambda td: td.__setitem__(0, td[1]), lambda td: td.update_(td.flip(0)), lambda td: td.abs(),
        lambda td: td.sum(), lambda td: td.sum(dim=0), lambda td: torch.where(td["x"] > 0, td, td),
        lambda td: td["t"].rows.tolist(), lambda td: td["t"].rows.numpy(), lambda td: td.memmap_like("x"),
        lambda td: td.clone().memmap_("x"), lambda td: td["t"].rows.view(torch.int8), lambda td: td["t"] == 3,
        lambda td: torch.save(td["t"].rows.untyped_storage(), "x"), lambda td: td.to_h5("x"),
        lambda td: td.to_struct_array(), lambda td: td.masked_fill(td["x"] > 0, 1.0),
        lambda td: torch.cat([td["t"].rows, torch.zeros(3, dtype=torch.uint8)]), lambda td: td.clamp(0, 1),
        lambda td: torch.cat([td, TensorDict({**td, "t": td["r1"]}, [3])]), lambda td: bytes(td["t"].rows),
        lambda td: td["t"].rows.sort(), lambda td: td["t"].rows.copy_(td["t"].rows), lambda td: td.view(torch.int8),
    ],
)  # fmt: skip
def test_what_is_not_right_raises(op: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    td, want = made(random.Random(3), 3)
    with pytest.raises(Exception):
        print("returned", op(td))
    td.pop("x"), want.pop("x")  # an operation that fails may have changed dense leaves
    assert lists_of(td) == want


@pytest.mark.parametrize("to", ["dir", "x.tdz", "threads", "x.tdc", "saved", "saved.tdz", "packed.tdz"])
def test_saved_forms(to: str, tmp_path: Path) -> None:
    for n in (0, 1, 6):
        td, want = made(random.Random(n), n)
        at = tmp_path / f"{n}{to}"
        if to == "x.tdc":
            td.consolidate(at)
        elif to.startswith("saved"):
            tdict.save(td, at)
        elif to.startswith("packed"):
            td.memmap(tmp_path / f"{n}").memmap(at)
        else:
            td.memmap(at, num_threads=4 if to == "threads" else 0)
        again = tdict.open(at)
        assert {k: again[k].texts() if k == "t" else again[k].tolist() for k in again.keys()} == want
        assert again["t"].is_text or to == "x.tdc"


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64, torch.bfloat16, torch.bool])
def test_dtypes(dtype: torch.dtype, tmp_path: Path) -> None:
    rows = [[1, 0], [], [1]]
    td = TensorDict({"x": ragged_of(rows, 1, dtype=dtype)}, [3])
    td[[2, 0, 1]].memmap(tmp_path / "d")
    again = tdict.open(tmp_path / "d")["x"]
    assert again.tolist() == [rows[2], rows[0], rows[1]] and again.rows.dtype == dtype


def test_batches_of_more_dims(tmp_path: Path) -> None:
    rows = [[i] * (i % 3) for i in range(6)]
    td = TensorDict({"x": ragged_of(rows, 1, [2, 3])}, [2])
    assert td["x"].tolist() == [rows[:3], rows[3:]] and td["x"].lengths.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert td[1]["x"].tolist() == rows[3:] and td["x"].rows.permute(1, 0)[2, 1].shape == ()
    td.memmap(tmp_path / "d")
    assert tdict.open(tmp_path / "d")[:, None]["x"].tolist() == [[rows[:3]], [rows[3:]]]


def test_parts_and_jagged() -> None:
    x = tdict.ragged(torch.arange(6), [1, 0, 3, 2])[1:]
    values, (offsets,) = x.parts()
    assert values.tolist() == [1, 2, 3, 4, 5] and offsets.tolist() == [0, 0, 3, 5]
    assert [r.tolist() for r in x.jagged().unbind()] == [[], [1, 2, 3], [4, 5]]
    assert x.jagged().to_padded_tensor(0).shape == (3, 3)
    with pytest.raises(ValueError, match="levels"):
        ragged_of([[[1]]], 2).jagged()
    with pytest.raises(ValueError, match="add up"):
        tdict.ragged(torch.arange(6), [1, 2])
    with pytest.raises(UnicodeDecodeError):
        tdict.ragged(torch.tensor([255], dtype=torch.uint8), [1]).texts()


def test_equal() -> None:
    td, want = made(random.Random(6), 5)
    other = td.clone()
    assert bool((td == other).all())
    other["t"] = tdict.text([*want["t"][:4], "other"])
    assert (td == other)["t"].tolist() == [True] * 4 + [False] and (td != other)["t"].sum() == 1
    assert (td["t"] == want["t"][0]).tolist() == [t == want["t"][0] for t in want["t"]]
    assert (td["r2"] == want["r2"][1]).tolist() == [r == want["r2"][1] for r in want["r2"]]
    with pytest.raises(ValueError, match="shapes"):
        td["t"] == td[1:]["t"]


def test_to_python() -> None:
    td, want = made(random.Random(4), 3)
    assert td.to_dict(convert_tensors=True) == want and td.to_dict()["t"] == want["t"]
    assert td.tolist() == [{key: rows[i] for key, rows in want.items()} for i in range(3)]


def test_lazy_stacks(tmp_path: Path) -> None:
    td, want = made(random.Random(5), 4)
    lazy = LazyStackedTensorDict(*td.unbind(0), stack_dim=0)
    lazy.memmap(tmp_path / "d")
    again = tdict.open(tmp_path / "d")
    assert again["t"].tolist() == want["t"] and again[1:]["r3"].tolist() == want["r3"][1:]
