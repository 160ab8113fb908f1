from __future__ import annotations

import json
import os
import pickle
import struct
import subprocess
import threading
import time
import zipfile
from collections.abc import Callable
from datetime import date, datetime, timezone
from pathlib import Path
from typing import Any

import corpus
import pytest
import torch
from tensordict import LazyStackedTensorDict, NonTensorStack, TensorDict, UnbatchedTensor, lazy_stack, tensorclass

import tdict

# What Go refuses and open does not: Python has the value, or does not use what is wrong.
OPENS = {
    # values that Go cannot spell
    "data-deep", "data-half-surrogate", "data-integer", "data-integer-negative", "stack-integer",
    "lazy-apart", "lazy-dims", "lazy-kinds",
    # parts that are not read: sums, limits of schemas, what nobody lists
    "go-sums-digits", "go-sums-number", "go-sums-object", "go-sums-sign", "go-sums-text",
    "go-schema-batch", "go-schema-dims", "go-shape-null",
    "go-unbatched-dims", "meta-deep-lists", "dict-unlisted",
    # data that break the saved schema; they are read as they are
    "go-schema-dtype", "go-schema-missing",
    # nodes without entries of their own
    "growing-node-order", "growing-path-no-node",
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(corpus.FOLDER.glob("*.txt")), ids=lambda p: p.stem)
def test_broken(case: Path, tmp_path: Path) -> None:
    error, deviates = corpus.build(case, tmp_path / "d")
    if deviates == "works" or case.stem in OPENS:
        tdict.open(tmp_path / "d")
        return
    with pytest.raises(tdict.DatasetError) as e:
        print("opened", tdict.open(tmp_path / "d"))
    assert str(tmp_path / "d") in str(e.value), error


def write(folder: Path, entries: dict[str, Any], shape: list[int], **fields: Any) -> Path:
    """A directory whose files are written by hand; an entry is a tensor, or JSON."""
    folder.mkdir(parents=True)
    meta: dict[str, Any] = {}
    for key, x in entries.items():
        if isinstance(x, tuple):
            x, more = x
        else:
            more = {}
        if isinstance(x, torch.Tensor):
            (folder / f"{key}.memmap").write_bytes(x.contiguous().view(torch.uint8).numpy().tobytes())
            x = {"dtype": str(x.dtype), "shape": list(x.shape), "is_nested": False}
        meta[key] = {**x, **more}
    meta |= {"shape": shape, "_type": "<class 'tensordict._td.TensorDict'>", **fields}
    (folder / "meta.json").write_text(json.dumps(meta))
    return folder


def test_growing(tmp_path: Path) -> None:
    def at(*path: str) -> dict[str, Any]:
        return {"go": {"v": 1, "path": list(path)}}

    pool = torch.tensor(list(b"hiyou\0"), dtype=torch.uint8)
    folder = write(
        tmp_path / "log",
        {
            "obs.pos": (torch.arange(6.0).reshape(3, 2), at("obs", "pos")),
            "obs.text.@lengths": (torch.tensor([2, 0, 3]), at("obs", "text", "@lengths")),
            "obs.text.@pool": (pool.reshape(3, 2), at("obs", "text", "@pool")),
            "obs.text.@row": (torch.arange(3), at("obs", "text", "@row")),
            "a.b": (torch.arange(4), at("a.b")),
        },
        [3],
        _go=[{"v": 1, "growing": True, "nodes": [{"path": ["obs"], "shape": []}, {"path": ["no"], "shape": [2]}]}],
    )
    meta = json.loads((folder / "meta.json").read_text())
    meta["a.b"]["shape"] = [3]  # the file has a row that is not committed
    (folder / "meta.json").write_text(json.dumps(meta))
    td = tdict.open(folder)
    assert td["obs", "text"].texts() == ["hi", "", "you"] and td["a.b"].tolist() == [0, 1, 2]
    assert td["no"].batch_size == (3, 2) and td["obs", "pos"][2].tolist() == [4, 5]
    td[1:].memmap(tmp_path / "kept")
    assert tdict.open(tmp_path / "kept")["obs", "text"].texts() == ["", "you"]


def test_flattened(tmp_path: Path) -> None:
    td = TensorDict({"obs": {"t": tdict.text(["a", "bc"])}, "x": torch.zeros(2)}, [2])
    td.memmap(tmp_path / "a")
    TensorDict.load_memmap(tmp_path / "a").flatten_keys(".").memmap(tmp_path / "b", copy_existing=True)
    assert tdict.open(tmp_path / "b")["obs", "t"].texts() == ["a", "bc"]


@tensorclass
class Frame:
    x: torch.Tensor
    note: str | None = None


def test_kinds_of_python(tmp_path: Path) -> None:
    td = TensorDict(
        {
            "x": torch.arange(6).to(torch.uint16).reshape(2, 3),
            "none": torch.zeros(2, 0),
            "in": {"a/b": torch.ones(2), "": torch.ones(2, dtype=torch.bfloat16)},
            "all": "one value",
            "each": NonTensorStack("a", {"b": [1, None]}),
            "w": UnbatchedTensor(torch.arange(5)),
            "frame": Frame(x=torch.zeros(2), note="hi", batch_size=[2]),
            "lazy": LazyStackedTensorDict(TensorDict({"q": torch.zeros(1)}), TensorDict({"q": torch.zeros(2)})),
            "nt": torch.nested.nested_tensor([torch.arange(3), torch.arange(0), ]),
        },
        [2],
    )  # fmt: skip
    td.memmap(tmp_path / "d")
    got, want = tdict.open(tmp_path / "d"), TensorDict.load_memmap(tmp_path / "d")
    assert set(got.keys()) == set(want.keys())
    assert got["x"].tolist() == td["x"].tolist() and got["none"].shape == (2, 0)
    assert got["in", "a/b"].tolist() == [1, 1] and got["in", ""].dtype == torch.bfloat16
    assert got["all"] == "one value" and got["each"] == ["a", {"b": [1, None]}]
    assert got["w"].tolist() == [0, 1, 2, 3, 4] and got[0]["w"].shape == (5,)
    assert type(got["frame"]) is Frame and got["frame"].note == "hi"
    assert [t["q"].shape for t in got["lazy"].unbind(0)] == [(1,), (2,)]
    assert [t.tolist() for t in got["nt"].unbind()] == [[0, 1, 2], []]
    td.pop("nt"), td.pop("frame"), td.pop("w"), td.pop("lazy"), td["in"].pop("")
    td.memmap(tmp_path / "x.tdz", compression="deflate")
    again = tdict.open(tmp_path / "x.tdz")
    assert again["x"].tolist() == td["x"].tolist() and again["each"] == td["each"]


def test_writes_do_not_reach_the_files(tmp_path: Path) -> None:
    TensorDict({"x": torch.zeros(4)}, [4]).memmap(tmp_path / "d")
    for writable in (False, True):
        td = tdict.open(tmp_path / "d", writable=writable)
        td["x"].fill_(7)
        assert tdict.open(tmp_path / "d")["x"].sum() == (28 if writable else 0)


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("unpickled",)


def test_nothing_is_unpickled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind in ("NonTensorData", "NonTensorStack", "MetaData", "Frame"):
        name = f"{__name__}.Frame" if kind == "Frame" else f"tensordict.tensorclass.{kind}"
        for file in ("other.pickle", "pickle.pkl"):
            folder = write(tmp_path / f"{kind}-{file}", {"n": {"type": kind}}, [])
            (folder / "n" / "_tensordict").mkdir(parents=True)
            data = {"data": file} if kind == "NonTensorStack" else {}
            (folder / "n" / "meta.json").write_text(json.dumps({"_type": f"<class '{name}'>", **data}))
            (folder / "n" / file).write_bytes(pickle.dumps(Evil()))
            with pytest.raises(tdict.DatasetError, match="pickle" if kind != "Frame" else "n/"):
                tdict.open(folder)
    assert not Path("unpickled").exists()


@pytest.mark.parametrize("n", [0, 1, 7, 8, 20])
def test_files_that_are_neither(n: int, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff" * n)
    with pytest.raises(tdict.DatasetError, match="x"):
        tdict.open(tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        tdict.open(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(tdict.DatasetError, match="pipe"):
        tdict.open(tmp_path / "pipe")


def test_changed_bytes_of_small_files(tmp_path: Path) -> None:
    """Each byte of an archive, and of a consolidated file, is changed, and each end is cut off."""
    td = TensorDict({"t": tdict.text(["ab", "", "c"]), "x": torch.arange(3)}, [3])
    td.memmap(tmp_path / "x.tdz")
    td.consolidate(tmp_path / "x.tdc")
    for name in ("x.tdz", "x.tdc"):
        whole = (tmp_path / name).read_bytes()
        at = tmp_path / f"changed-{name}"
        for i in range(0, len(whole), 3):
            for changed in (whole[:i] + bytes([whole[i] ^ 0x55]) + whole[i + 1 :], whole[:i]):
                at.unlink(missing_ok=True)
                at.write_bytes(changed)
                try:
                    again = tdict.open(at)
                    [again[k].tolist() for k in again.keys()]
                except (tdict.DatasetError, UnicodeDecodeError):
                    pass


def test_changed_bytes_of_a_directory(tmp_path: Path) -> None:
    """Each byte of each file is changed, and the file is cut there."""
    td = TensorDict({"t": tdict.text(["ab", "", "c"]), "in": {"x": torch.arange(3)}, "n": "data"}, [3])
    td.memmap(tmp_path / "d")
    opened = 0
    for file in sorted(p for p in (tmp_path / "d").rglob("*") if p.is_file()):
        whole = file.read_bytes()
        for i in range(len(whole)):
            for changed in (whole[:i] + bytes([whole[i] ^ 0x15]) + whole[i + 1 :], whole[:i]):
                file.write_bytes(changed)
                try:
                    again = tdict.open(tmp_path / "d")
                    opened += [again[k].tolist() for k in again.keys() if k != "n"] is not None
                except (tdict.DatasetError, UnicodeDecodeError):
                    assert len(changed) < len(whole) or file.suffix != ".memmap" or "@" in file.name
        file.write_bytes(whole)
    assert opened > 100


def test_archives_that_lie(tmp_path: Path) -> None:
    folder = write(tmp_path / "d", {"x": torch.zeros(4)}, [4])
    for name, extra in {"twice": "meta.json", "more": "../y"}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as z:
            for file in folder.iterdir():
                z.write(file, file.name)
            z.writestr(extra, "{}")
    assert tdict.open(tmp_path / "more")["x"].sum() == 0
    with pytest.raises(tdict.DatasetError, match="twice"):
        tdict.open(tmp_path / "twice")


TABLE = [
    {"id": 1, "name": "Ada", "day": "2024-01-02", "at": "2024-01-02T03:04:05Z", "tags": ["a", "bc"], "visits": [1, 2], "age": 3.5, "nick": "A"},
    {"id": 2, "name": "", "day": "1969-12-31", "at": "1969-12-31T23:59:59Z", "tags": [], "visits": [], "age": None, "nick": None},
    {"id": 3, "name": "Émilie", "day": "2000-02-29", "at": "2000-02-29T00:00:00Z", "tags": [""], "visits": [7], "age": 1.0, "nick": ""},
]  # fmt: skip
SEX = ["f", "m", "f"]


@pytest.fixture
def table(tmp_path: Path, tdict_command: Callable[..., str]) -> Path:
    """A dataset that Go made of TABLE, with a column of categories."""
    lines = [json.dumps({**row, "sex": sex}) for row, sex in zip(TABLE, SEX)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    schema = json.loads(tdict_command("schema", tmp_path / "t.jsonl"))
    for spec in schema["entries"]:
        if spec["key"] == "sex":
            spec |= {"kind": "tensor", "dtype": "int8", "categories": ["f", "m"]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    tdict_command("convert", tmp_path / "t.jsonl", tmp_path / "table", "--schema", tmp_path / "schema.json")
    return tmp_path / "table"


def test_table(table: Path) -> None:
    td = tdict.open(table)
    for key in ("id", "name", "tags", "visits", "age", "nick"):
        assert tdict.tolist(td, key) == [row[key] for row in TABLE], key
    assert tdict.tolist(td, "sex") == SEX and td["sex"].tolist() == [0, 1, 0]
    assert tdict.tolist(td, "day") == [date(2024, 1, 2), date(1969, 12, 31), date(2000, 2, 29)]
    at = [datetime.fromisoformat(str(row["at"]).replace("Z", "+00:00")) for row in TABLE]
    assert tdict.tolist(td, "at") == at and at[0].tzinfo == timezone.utc
    assert tdict.mask(td, "age").tolist() == [True, False, True] and tdict.mask(td, "id") is None
    with pytest.raises(ValueError, match="schema"):
        tdict.tolist(td[1:], "day")
    with pytest.raises(KeyError):
        tdict.tolist(td.select("age"), "age", tdict.schema(td))  # without its mask
    with pytest.raises(KeyError, match="none"):
        tdict.tolist(td, "none")
    assert tdict.tolist(td[[1, 0]], "age", tdict.schema(td)) == [None, 3.5]


@pytest.mark.parametrize("form", ["dir", "x.tdz", "x.tdc", "saved", "saved.tdz"])
def test_go_reads_what_is_saved(form: str, table: Path, tdict_command: Callable[..., str]) -> None:
    td, to = tdict.open(table), table.parent / f"{form}"
    picked = td[torch.tensor([True, False, True])]
    if form == "x.tdc":
        picked.consolidate(to)
    elif form.startswith("saved"):
        tdict.save(picked, to, schema=tdict.schema(td))
    else:
        picked.memmap(to)
    tdict_command("verify", to)
    want = table.parent / "want"
    tdict_command("slice", table, want, "--where", "id != 2")
    if form.startswith("saved"):
        assert tdict_command("head", to) == tdict_command("head", want)
        assert json.loads(tdict_command("show", to, "--json"))["saved_schema"]
        assert tdict.tolist(tdict.open(to), "day") == [date(2024, 1, 2), date(2000, 2, 29)]
    tdict_command("diff", want, to)
    again = tdict.open(to)
    for key in picked.keys():
        a, b = picked[key], again[key]
        assert (a.texts() == b.texts()) if getattr(a, "is_text", False) else (a.tolist() == b.tolist()), key


def test_schema_must_fit(table: Path) -> None:
    td = tdict.open(table)
    with pytest.raises(ValueError, match="day"):
        tdict.save(td.exclude("day"), table.parent / "x", schema=tdict.schema(td))
    with pytest.raises(ValueError, match="does not list more"):
        tdict.save(td.copy().set("more", torch.zeros(3)), table.parent / "x", schema=tdict.schema(td))
    with pytest.raises(FileExistsError):
        tdict.save(td, table)
    assert sorted(p.name for p in table.parent.iterdir()) == ["schema.json", "t.jsonl", "table"]


@pytest.mark.parametrize("form", ["d", "x.tdz"])
def test_save_keeps_names_and_unbatched(form: str, tmp_path: Path, tdict_command: Callable[..., str]) -> None:
    inner = TensorDict({"u": UnbatchedTensor(torch.arange(3)), "x": torch.zeros(3, 2)}, [3, 2])
    members = [TensorDict({"x": torch.zeros(n)}, []) for n in (1, 2, 4)]
    td = TensorDict({"a b": inner, "s": LazyStackedTensorDict(*members, stack_dim=0)}, [3], names=["p"])
    td["a b"].names = ["p", "t"]
    tdict.save(td, tmp_path / form)
    tdict_command("verify", tmp_path / form)
    again = tdict.open(tmp_path / form)
    assert again.names == ["p"] and again["a b"].names == ["p", "t"]
    assert isinstance(again["a b"].get("u"), UnbatchedTensor)


def test_unbatched_in_consolidated_files(tmp_path: Path, tdict_command: Callable[..., str]) -> None:
    """Go says which tensors are unbatched; in files of Python they are those that cannot have rows."""
    members = [TensorDict({"x": torch.zeros(2, n), "u": UnbatchedTensor(torch.ones(n))}, [2]) for n in (2, 3)]
    td = TensorDict(
        {
            "longer": UnbatchedTensor(torch.arange(4)),
            "as long": UnbatchedTensor(torch.arange(2)),
            "n": TensorDict({"scalar": UnbatchedTensor(torch.tensor(7)), "x": torch.zeros(2, 3)}, [2, 3]),
            "s": LazyStackedTensorDict(*members, stack_dim=0),
        },
        [2],
    )
    tdict.save(td, tmp_path / "d")
    tdict_command("convert", tmp_path / "d", tmp_path / "go.tdc")
    td.consolidate(tmp_path / "python.tdc")
    for name in ("go.tdc", "python.tdc"):
        again = tdict.open(tmp_path / name)
        members = again["s"].tensordicts
        found = [again.get("longer"), again["n"].get("scalar"), members[1].get("u"), again.get("as long"), members[0].get("u")]
        unbatched = [isinstance(x, UnbatchedTensor) for x in found]
        assert unbatched == [True, True, True] + [name == "go.tdc"] * 2, name
        assert again[1]["longer"].tolist() == [0, 1, 2, 3] and again["n"].get("scalar").batch_size == (2, 3)
    again = tdict.open(tmp_path / "go.tdc")
    tdict.save(again, tmp_path / "again")
    tdict_command("diff", tmp_path / "again", tmp_path / "go.tdc")


@pytest.mark.parametrize("form", ["d", "x.tdz", "x.tdc", "go.tdc"])
def test_names_of_stacks(form: str, tmp_path: Path, tdict_command: Callable[..., str]) -> None:
    def stack(dim: int, *names: str | None) -> LazyStackedTensorDict:
        members = [TensorDict({"x": torch.ones(2, n), "in": {"y": torch.ones(2)}}, [2]) for n in (1, 3)]
        made = LazyStackedTensorDict(*members, stack_dim=dim)
        made.names = names
        return made

    both = LazyStackedTensorDict(stack(0, "q", "r"), stack(0, "q", "r"), stack_dim=1, stack_dim_name="m")
    inner = {"a": stack(0, "p", "q"), "b": stack(1, "p", "q"), "c": stack(0, "p", None), "d": stack(1, "p", "x")}
    for number, td in enumerate([
        stack(0, "s", "a"), stack(1, "a", "s"), stack(0, None, "a"), stack(0, "s", None), both,
        TensorDict(inner, [2], names=["p"]), TensorDict({"n": inner}, [2], names=["p"]),
    ]):  # fmt: skip
        saved, again = tmp_path / f"{number}", tmp_path / f"{number}{form}"
        tdict.save(td, saved)
        if form == "x.tdc":
            tdict.open(saved).consolidate(again)
        elif form == "go.tdc":
            tdict_command("convert", saved, again)
        else:
            tdict.save(tdict.open(saved), again)
        tdict_command("diff", saved, again)
        tdict_command("convert", again, tmp_path / f"{number}go")  # names of members are not there
        for path in (saved, again, tmp_path / f"{number}go"):
            found = tdict.open(path)
            assert names_of(found) == names_of(td), path
    differ = [TensorDict({"x": torch.ones(2)}, [2], names=[name]) for name in "ab"]
    with pytest.raises(ValueError, match="s: .*names match"):
        tdict.save(TensorDict({"n": {"s": LazyStackedTensorDict(*differ, stack_dim=0)}}, []), tmp_path / "differ")
    assert not (tmp_path / "differ").exists()


def names_of(td: Any) -> dict[str, Any]:
    """The names of the dims of each dictionary."""
    nested = td
    while isinstance(nested, LazyStackedTensorDict):
        nested = nested.tensordicts[0]
    below = {key: names_of(x) for key, x in nested.items() if isinstance(x, (TensorDict, LazyStackedTensorDict))}
    return {"": list(td.names), **below}


# Schemas of {x: float32 [2 3], d: int64 [2], t: text, b: bool [2]} that Go refuses, and what is said.
X, D, B = {"key": "x", "kind": "tensor"}, {"key": "d", "kind": "tensor"}, {"key": "b", "kind": "tensor"}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no key": ({"x": {"kind": "tensor"}}, "x: got the key None in its entry, want 'x'"),
    "no entry": ({"x": None}, "x: got the key None"),
    "another key": ({"x": {**X, "key": "y"}}, "x: got the key 'y' in its entry, want 'x'"),
    "unknown field": ({"x": {**X, "zz": 1}}, "'x': got the zz 1, want a text in one of the fields"),
    "no kind": ({"x": {"key": "x"}}, "'x': got the kind None, want one of tensor"),
    "unknown kind": ({"x": {**X, "kind": "tensr"}}, "'x': got the kind 'tensr', want one of tensor"),
    "unknown dtype": ({"x": {**X, "dtype": "int"}}, "'x': got the dtype 'int', want one of"),
    "dtype of torch": ({"x": {**X, "dtype": torch.float32}}, "'x': got the dtype torch.float32, want a text"),
    "other dtype": ({"x": {**X, "dtype": "float64"}}, "x: got .*float32.*, want .*float64"),
    "other kind": ({"x": {**X, "kind": "ragged"}}, "x: got .*tensor.*, want .*ragged"),
    "other shape": ({"x": {**X, "shape": [4]}}, "x: got .*3.*, want .*4"),
    "no shape": ({"x": {"key": "x", "kind": "tensor"}}, "x: got .*3.*, want"),
    "shape of a tuple": ({"x": {**X, "shape": (3,)}}, "'x': got the shape \\(3,\\), want a list"),
    "negative shape": ({"x": {**X, "shape": [-1]}}, "'x': got the shape .*, want a list of sizes"),
    "dtype of text": ({"t": {"key": "t", "kind": "text", "dtype": "uint8"}}, "'t': got the dtype 'uint8', want none"),
    "depth of text": ({"t": {"key": "t", "kind": "text", "depth": 1}}, "t: got .*'depth': 1.*, want .*'depth': 1"),
    "depth of a tensor": ({"d": {**D, "depth": 1}}, "'d': got the depth 1, want none"),
    "huge depth": ({"d": {**D, "kind": "ragged", "depth": 257}}, "'d': got the depth 257, want 0 to 256"),
    "batch of a tensor": ({"d": {**D, "batch": [1]}}, "'d': got the batch .1., want none"),
    "categories twice": ({"d": {**D, "categories": ["a", "a"]}}, "'d': got the categories .*, want different"),
    "categories of floats": ({"x": {**X, "dtype": "float32", "categories": []}}, "'x': got the categories .*, want them for int"),
    "categories of numbers": ({"d": {**D, "categories": [1]}}, "'d': got the categories .1., want a list of texts"),
    "half a character": ({"d": {**D, "doc": "\ud800"}}, "'d': got the doc"),
    "time without a unit": ({"d": {**D, "dtype": "int64", "time": "2006"}}, "'d': got the unit None, want one of d,"),
    "time of any dtype": ({"d": {**D, "unit": "d", "time": "2006"}}, "'d': got the time '2006', want it for int64"),
    "bare integers": ({"d": {**D, "dtype": "int64", "bare": True}}, "'d': got the bare True, want it for floating"),
    "optional text": ({"d": {**D, "optional": "yes"}}, "'d': got the optional 'yes', want a bool"),
    "its own mask": ({"d": {**D, "mask": "d"}}, "'d': got the mask 'd', want .*another"),
    "mask of numbers": ({"d": {**D, "mask": "x"}}, "'d': got the mask .*'x'.*, want bools"),
    "mask of another shape": ({"x": {**X, "shape": [3], "mask": "b"}, "b": {**B, "dtype": "bool"}}, "'x': got the mask .*, want bools"),
    "mask that is missing": ({"d": {**D, "mask": "d_mask"}}, "d: got no entry 'd_mask', want its mask: add it"),
    "optional mask that is missing": (
        {"d": {**D, "mask": "m"}, "m": {"key": "m", "kind": "tensor", "dtype": "bool", "optional": True}}, "d: got no entry 'm'"),
    "entry that is missing": ({"more": {"key": "more", "kind": "tensor"}}, "more: got no such entry, want"),
    "entry in a tensor": ({"x/y": {"key": "x/y", "kind": "tensor", "optional": True}}, "'x/y': got it in 'x' of kind tensor"),
    "wrong escape": ({"a~": {"key": "a~", "kind": "tensor", "optional": True}}, "'a~': got the key 'a~', want ~0 or ~1"),
    "dictionary too late": (
        {"n/y": {"key": "n/y", "kind": "tensor", "optional": True}, "n": {"key": "n", "kind": "dictionary", "optional": True}},
        "'n': got it after its entries"),
}  # fmt: skip
FITS: dict[str, Any] = {
    "x": {"key": "x", "kind": "tensor", "dtype": "float32", "shape": [None]}, "d": D, "b": {**B, "dtype": "bool"},
    "t": {"key": "t", "kind": "text"},
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_schemas_that_go_refuses(name: str, tmp_path: Path) -> None:
    td = TensorDict({"x": torch.ones(2, 3), "d": torch.arange(2), "b": torch.ones(2, dtype=torch.bool), "t": tdict.text(["a", ""])}, [2])
    changes, want = REFUSED[name]
    with pytest.raises(ValueError, match=f"the schema does not fit: {want}"):
        tdict.save(td, tmp_path / "d", {**FITS, **changes})
    assert not list(tmp_path.iterdir())
    tdict.save(td, tmp_path / "d", FITS)
    if any(not isinstance(v, dict) or v.get("key") != k for k, v in changes.items()) or "tuple" in name or name == "dtype of torch":
        return
    if "that is missing" in name and "mask" in name:
        return  # Go takes all values as present
    meta = json.loads((tmp_path / "d" / "meta.json").read_text())
    meta["_go"][0]["schema"]["entries"] = list({**FITS, **changes}.values())
    (tmp_path / "d" / "meta.json").write_text(json.dumps(meta))
    exe = os.environ.get("TDICT")
    if exe:
        done = subprocess.run([exe, "show", tmp_path / "d"], capture_output=True, text=True)
        assert done.returncode == 3, done.stdout


def test_schemas_of_stacks(tmp_path: Path, tdict_command: Callable[..., str]) -> None:
    members = [TensorDict({"d": torch.ones(2, n), "in": {"u": UnbatchedTensor(torch.ones(3))}, "n": "a"}, [2]) for n in (1, 3)]
    members[1]["in", "only here"] = torch.ones(2)
    for number, td in enumerate([
        LazyStackedTensorDict(*members, stack_dim=0),
        TensorDict({"s": LazyStackedTensorDict(*members, stack_dim=1)}, [2]),
        TensorDict({"s": lazy_stack([Frame(x=torch.zeros(2), batch_size=[2])] * 3, 1)}, [2]),
    ]):  # fmt: skip
        tdict.save(td, tmp_path / f"{number}")
        shown = json.loads(tdict_command("show", "--json", tmp_path / f"{number}"))["schema"]
        schema = {spec["key"]: spec for spec in shown["entries"]}
        tdict.save(td, tmp_path / f"{number}s", schema)
        tdict_command("diff", tmp_path / f"{number}", tmp_path / f"{number}s")
        again = tdict.open(tmp_path / f"{number}s")
        assert tdict.schema(again) == schema
        tdict.save(again, tmp_path / f"{number}again.tdz")
        for key, spec in schema.items():
            if spec["kind"] == "stacked":
                with pytest.raises(ValueError, match=f"{key}: got .*'stacked'.*, want .*'tensor'"):
                    tdict.save(td, tmp_path / "x", {**schema, key: {**spec, "kind": "tensor"}})
        assert not (tmp_path / "x").exists()


def test_paths_that_save_refuses(tmp_path: Path) -> None:
    td = TensorDict({"x": torch.ones(2)}, [2])
    for path in ("x.tdc", "x.TDC"):
        with pytest.raises(ValueError, match=rf"{path}: save writes .*\.tdz.*td.consolidate"):
            tdict.save(td, tmp_path / path)
    with pytest.raises(FileNotFoundError, match=f"{tmp_path}/no: no such directory, to save x.tdz in"):
        tdict.save(td, tmp_path / "no" / "x.tdz")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file: not a directory"):
        tdict.save(td, tmp_path / "file" / "x")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_keys_of_parts(tmp_path: Path) -> None:
    td = TensorDict({"f": {"a/b~": torch.arange(2), "m": torch.tensor([True, False])}}, [2])
    schema: Any = {"f/a~1b~0": {"key": "f/a~1b~0", "kind": "tensor", "mask": "f/m"}, "f/m": {"key": "f/m", "kind": "tensor", "dtype": "bool"}}
    tdict.save(td, tmp_path / "d", schema)
    again = tdict.open(tmp_path / "d")
    for key in ("f/a~1b~0", ("f", "a/b~"), ["f", "a/b~"]):
        assert tdict.tolist(again, key) == [0, None] and tdict.mask(again, key).tolist() == [True, False]
    for read in (tdict.tolist, tdict.mask):
        with pytest.raises(KeyError, match="f/none"):
            read(again, ("f", "none"))
        for key in (3, (), ("f", 1)):
            with pytest.raises(TypeError, match="want a key such as 'obs/pos' or"):
                read(again, key)


def test_open_while_go_replaces(table: Path, tdict_command: Callable[..., str]) -> None:
    """Two processes exchange a dataset all the time; TDICT_SECONDS makes it longer."""
    other, live = table.parent / "other", table.parent / "live"
    tdict_command("slice", table, other, "--where", "id != 2")
    exe = tdict_command.exe  # type: ignore[attr-defined]
    loop = "while $0 convert --force $1 $3 && $0 convert --force $2 $3; do :; done"
    command = ["sh", "-c", loop, exe, table, other, live]
    tdict_command("convert", table, live)
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        names = {3: ["Ada", "", "Émilie"], 2: ["Ada", "Émilie"]}
        seen: dict[int, int] = {2: 0, 3: 0}
        end = time.monotonic() + float(os.environ.get("TDICT_SECONDS", "2"))
        while time.monotonic() < end or min(seen.values()) == 0 and running.poll() is None:
            td = tdict.open(live)
            assert td["name"].tolist() == names[len(td)] and td["id"].sum() == (6 if len(td) == 3 else 4)
            seen[len(td)] += 1
    finally:
        running.kill()
        running.wait()
    assert min(seen.values()) > 0, seen


class Views(torch.utils.data.IterableDataset):  # type: ignore[type-arg]
    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Any:
        td = tdict.open(self.path)
        yield from (td[:2], td["x"], td["t"])


@pytest.mark.parametrize("name", ["d", "x.tdz"])
def test_views_reach_other_processes(name: str, tmp_path: Path) -> None:
    TensorDict({"x": torch.arange(3), "t": tdict.text(["a", "", "b"])}, [3]).memmap(tmp_path / name)
    loader = torch.utils.data.DataLoader(Views(tmp_path / name), None, collate_fn=lambda x: x, num_workers=1, timeout=20)
    td, x, t = loader
    assert td["x"].tolist() == [0, 1] and x.tolist() == [0, 1, 2] and t.texts() == ["a", "", "b"]
