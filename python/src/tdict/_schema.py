"""Schemas that Go saves with a dataset: which columns are text, times, categories, masks."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, TypedDict

import torch
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    TensorDictBase,
    UnbatchedTensor,
    is_non_tensor,
    is_tensorclass,
    pack_memmap,
)
from torch import Tensor

from ._files import name_of
from ._ragged import Ragged


class Spec(TypedDict, total=False):
    """An entry of a schema: docs/schema.md, As JSON."""

    key: str
    kind: str
    dtype: str
    batch: list[int | None]
    shape: list[int | None]
    depth: int
    optional: bool
    mask: str
    unit: str
    time: str
    categories: list[str]
    columns: list[str]
    bare: bool
    doc: str


Schema = dict[str, Spec]
_KINDS = ("tensor", "ragged", "text", "dictionary", "data", "unbatched", "stacked")
DTYPES = {
    name: getattr(torch, name)
    for name in "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 "
    "float16 bfloat16 float32 float64 complex64 complex128".split()
}
_UNITS = {  # in microseconds; ns is apart
    "d": 86_400_000_000, "h": 3_600_000_000, "min": 60_000_000, "s": 1_000_000, "ms": 1000, "us": 1,
}  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json.loads: refuses a duplicate field."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field is there twice")
    return fields


def parse_schema(x: Any) -> Schema:
    """The schema of its JSON. Raises ValueError where Go does: tdict/schema.go, schemameaning.go."""
    if not isinstance(x, dict) or x.get("version") != 1 or not isinstance(x.get("entries"), list):
        raise ValueError("got no schema of version 1")
    schema: Schema = {}
    outer: set[str] = set()  # the keys of dictionaries that have entries
    for spec in x["entries"]:
        key = spec.get("key") if isinstance(spec, dict) else None
        if not _is_text(key):
            raise ValueError(f"an entry without a key: got {spec}")
        if wrong := _wrong(spec):
            raise ValueError(f"{key!r}: got the {wrong[0]} {spec.get(wrong[0])!r}, want {wrong[1]}")
        if key in schema or key in outer:
            raise ValueError(f"{key!r}: got it after {'its entries' if key in outer else 'itself'}, want it once and before them")
        for parent in _parents(key):
            if schema.get(parent, {"kind": "dictionary"})["kind"] != "dictionary":
                raise ValueError(f"{key!r}: got it in {parent!r} of kind {schema[parent]['kind']}, want a dictionary")
            outer.add(parent)
        schema[key] = spec
    for key, spec in schema.items():
        name = spec.get("mask", "")
        if name in outer or name in schema and not _can_mask(spec, schema[name]):
            raise ValueError(f"{key!r}: got the mask {schema.get(name, name)}, want bools for its values")
    return schema


def _parents(key: str) -> list[str]:
    return [key[:i] for i, c in enumerate(key) if c == "/"]


def _is_text(x: Any) -> bool:
    return type(x) is str and not re.search("[\ud800-\udfff]", x)


def _wrong(spec: dict[str, Any]) -> tuple[str, str] | None:
    """The field of a spec that is wrong, and what it should be; None if there is none."""
    for field, x in spec.items():
        if field in ("shape", "batch"):
            sizes, want = x, "a list of sizes, None for any"
            ok = type(x) is list and all(n is None or type(n) is int and 0 <= n < 2**63 for n in sizes)
        elif field in ("columns", "categories"):
            ok, want = type(x) is list and all(map(_is_text, x)), "a list of texts"
        elif field in ("optional", "bare"):
            ok, want = type(x) is bool, "a bool"
        elif field == "depth":
            ok, want = type(x) is int and 0 <= x <= 256, "0 to 256"
        else:
            ok, want = _is_text(x) and field in Spec.__annotations__, "a text in one of the fields of tdict.Spec"
        if not ok:
            return field, want
    key, kind, dtype, mask, listed = (spec.get(f) for f in ("key", "kind", "dtype", "mask", "categories"))
    numbers = kind in ("tensor", "ragged")
    for broken, field, want in (
        (re.search("~(?![01])", f"{key}{mask or ''}"), "mask" if mask else "key", "~0 or ~1 after each ~"),
        (str(key).count("/") > 256, "key", "at most 257 parts"),
        (kind not in _KINDS, "kind", "one of " + ", ".join(_KINDS)),
        (dtype is not None and dtype not in DTYPES, "dtype", "one of " + ", ".join(DTYPES)),
        (dtype and kind in ("text", "dictionary", "data"), "dtype", f"none for {kind}"),
        (spec.get("depth") and kind not in ("ragged", "text", "dictionary"), "depth", f"none for {kind}"),
        (spec.get("depth") and spec.get("shape") and kind == "text", "shape", "none for text with a depth"),
        (spec.get("batch") and kind not in ("ragged", "unbatched"), "batch", f"none for {kind}"),
        (mask and (mask == key or not numbers and kind not in ("text", "dictionary")), "mask", f"none for {kind}, or another entry"),
        (spec.get("time") and (not numbers or dtype != "int64" or listed is not None), "time", "it for int64 without categories"),
        (spec.get("time") and spec.get("unit") not in (*_UNITS, "ns"), "unit", "one of " + ", ".join((*_UNITS, "ns"))),
        (spec.get("bare") and not (numbers and "float" in (dtype or "float")), "bare", "it for floating-point numbers"),
        (listed is not None and not (numbers and "int" in (dtype or "int")), "categories", "them for integers"),
        (listed and len(set(listed)) < len(listed), "categories", "different texts"),
    ):
        if broken:
            return field, want
    return None


def _sizes_fit(want: Sequence[int | None], got: Sequence[int | None]) -> bool:
    return len(want) == len(got) and all(w is None or w == g for w, g in zip(want, got))


def _can_mask(spec: Spec, mask: Spec) -> bool:
    if mask.get("dtype") != "bool" or mask["kind"] not in ("tensor", "ragged"):
        return False
    shape, batch = mask.get("shape", []), mask.get("batch", [])
    if mask["kind"] == "tensor":
        return _sizes_fit(spec.get("batch" if spec["kind"] == "ragged" else "shape", []), shape)
    return mask.get("depth", 0) <= spec.get("depth", 0) and _sizes_fit(spec.get("batch", []), batch) and not shape


def parts_of(key: str) -> tuple[str, ...]:
    """The names of a key, such as obs/pos, as tensordict takes them."""
    return tuple(p.replace("~1", "/").replace("~0", "~") for p in key.split("/"))


def key_of(parts: tuple[str, ...]) -> str:
    """The key of names, as a schema spells it."""
    return "/".join(p.replace("~", "~0").replace("/", "~1") for p in parts)


def holder(td: Any) -> Any:
    return td._tensordict if is_tensorclass(td) else td


def schema(td: Any) -> Schema:
    """The schema that was saved with a dataset, by key; {} if none was saved. td is a result of `open`.

    Raises ValueError for another td, such as rows picked from a dataset, which do not know its
    schema. Keep the schema of the dataset.
    """
    found = getattr(holder(td), "_tdict_schema", None)
    if found is None:
        raise ValueError("only the result of tdict.open knows its schema: pass the schema of the whole dataset")
    return dict(found)


Key = str | tuple[str, ...] | list[str]


def mask(td: Any, key: Key, schema: Schema | None = None) -> Any:
    """The mask of the entry `key`, true where a value is present, or None if it has no mask.

    key is "obs/pos" or ("obs", "pos"). Raises KeyError if td lacks the mask, and for a key that
    neither td nor the schema has.
    """
    key, spec = _spec(td, key, schema)
    name = spec.get("mask")
    if not spec and td.get(parts_of(key), None) is None:
        raise KeyError(key)
    return td[parts_of(name)] if name else None


def _spec(td: Any, key: Key, known: Schema | None) -> tuple[str, Spec]:
    """A key, as a schema spells it, and its entry there."""
    if not isinstance(key, str):
        if not isinstance(key, (tuple, list)) or not key or not all(isinstance(p, str) for p in key):
            raise TypeError(f"got the key {key!r}, want a key such as 'obs/pos' or ('obs', 'pos')")
        key = key_of(tuple(key))
    return key, (schema(td) if known is None else known).get(key, {})


def tolist(td: Any, key: Key, schema: Schema | None = None) -> Any:
    """The values of an entry in nested lists, with the meaning that the schema gives them.

    Text is str, codes of categories are their texts, times are date (if the unit is d) or datetime
    in UTC, and values that a mask hides are None. key is "obs/pos" or ("obs", "pos"). If td is not
    a result of `open`, pass schema.
    """
    key, spec = _spec(td, key, schema)
    value = td.get(parts_of(key), None)
    if value is None:
        raise KeyError(key)
    if isinstance(value, Ragged) and spec.get("kind") == "text":
        rows = value.texts()
    elif is_non_tensor(value) and not hasattr(value, "tolist"):
        rows = value.data
    else:
        rows = value.tolist()
    present = mask(td, key, schema)
    if present is not None:
        rows = _hidden(rows, present.tolist())
    if "categories" in spec:
        rows = _each(_category(key, spec["categories"]), rows)
    elif spec.get("time"):
        rows = _each(_moment(key, spec.get("unit", "")), rows)
    return rows


def _hidden(x: Any, present: Any) -> Any:
    if not isinstance(present, list):
        return x if present else None
    if not isinstance(x, list) or len(x) != len(present):
        raise ValueError("the mask does not fit its entry")
    return [_hidden(a, b) for a, b in zip(x, present)]


def _each(f: Callable[[Any], Any], x: Any) -> Any:
    if isinstance(x, list):
        return [_each(f, y) for y in x]
    return None if x is None else f(x)


def _category(key: str, texts: list[str]) -> Callable[[Any], str]:
    def text(code: Any) -> str:
        if not 0 <= code < len(texts):
            raise ValueError(f"{key}: got the code {code}, want 0 to {len(texts) - 1}")
        return texts[int(code)]

    return text


def _moment(key: str, unit: str) -> Callable[[Any], date]:
    def moment(n: int) -> date:
        if unit == "ns" and n % 1000 == 0:
            return _EPOCH + timedelta(microseconds=n // 1000)
        if unit not in _UNITS:
            raise ValueError(f"{key}: {n} {unit or 'units'} since 1970 is no whole number of microseconds")
        try:
            at = _EPOCH + timedelta(microseconds=n * _UNITS[unit])
        except OverflowError as e:
            raise ValueError(f"{key}: {n} {unit} since 1970 is not in the years 1 to 9999") from e
        return at.date() if unit == "d" else at

    return moment


def save(td: TensorDictBase, path: str | os.PathLike[str], schema: Schema | None = None) -> None:
    """Saves td to a directory, or to an archive if path ends in .tdz.

    Unlike td.memmap, it also saves a schema, the names of dims and which tensors are unbatched. The
    path must not exist: FileExistsError. It appears only when all is written. schema is by default
    the one that td was opened with; rows picked from a dataset do not know it, so pass it.
    ValueError, with the key, says why td does not fit the schema.
    """
    path = Path(path)
    if path.suffix.lower() == ".tdc":
        raise ValueError(f"{path}: save writes a directory or, with the suffix .tdz, an archive: td.consolidate writes .tdc")
    if not path.parent.exists():
        raise FileNotFoundError(f"{path.parent}: no such directory, to save {path.name} in")
    if not path.parent.is_dir():
        raise NotADirectoryError(f"{path.parent}: not a directory, to save {path.name} in")
    if os.path.lexists(path):
        raise FileExistsError(f"{path}: is there already")
    known = getattr(holder(td), "_tdict_schema", None) if schema is None else schema
    if known:
        try:
            _fits(known, td)
        except ValueError as e:
            raise ValueError(f"the schema does not fit: {e}; schema={{}} saves none") from None
    made = Path(tempfile.mkdtemp(prefix=".tdict-", dir=path.parent or "."))
    try:
        td.memmap(made / "new", copy_existing=True)
        entries = {"schema": {"version": 1, "entries": list(known.values())}} if known else {}
        _add_facts(td, made / "new", entries)
        if path.suffix == ".tdz":
            pack_memmap(made / "new", made / "new.tdz")
            os.link(made / "new.tdz", path)
        else:
            os.rename(made / "new", path)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _add_facts(td: Any, folder: Path, facts: dict[str, Any], at: tuple[str, ...] = ()) -> None:
    """Adds native facts to the meta.json of td: facts, and for it and below what tensordict does
    not save, which are names of dims and which tensors are unbatched. at is the key of td.
    """
    if is_tensorclass(td):
        td, folder = td._tensordict, folder / "_tensordict"
    meta = folder / "meta.json"
    try:
        names = td.names
    except ValueError as e:  # of members whose names differ
        raise ValueError(f"{key_of(at) or 'the stack'}: {e}") from e
    fields, changed = json.loads(meta.read_bytes()), bool(facts) or any(names)
    if any(names):
        facts = {**facts, "names": [name or "" for name in names]}
    stacked = isinstance(td, LazyStackedTensorDict)
    for key, x in enumerate(td.tensordicts) if stacked else td.items():
        if isinstance(x, UnbatchedTensor):
            fields[key]["go"], changed = {"v": 1, "unbatched": list(td.batch_size)}, True
        elif _is_nested(x):
            _add_facts(x, folder / name_of(str(key)), {}, (*at, str(key)))
    if facts:
        fields["_go"] = [{"v": 1, **facts}]
    if changed:
        meta.write_text(json.dumps(fields, separators=(",", ":")))


def _is_nested(x: Any) -> bool:
    nested = isinstance(x, TensorDictBase) or is_tensorclass(x)
    return nested and not isinstance(x, Ragged) and not is_non_tensor(x)


def _fits(known: Schema, td: Any) -> None:
    """Raises ValueError if td does not fit a schema: tdict/schemacheck.go."""
    for key, spec in known.items():
        if not isinstance(spec, dict) or spec.get("key") != key:
            got = spec.get("key") if isinstance(spec, dict) else spec
            raise ValueError(f"{key}: got the key {got!r} in its entry, want {key!r}")
    parse_schema({"version": 1, "entries": list(known.values())})
    seen = {key_of(parts): spec for parts, spec in _specs(td, (), len(_shape(td)))}
    for key, want in known.items():
        got, above = seen.get(key), _parents(key)
        if got is None and not any(known.get(k, {}).get("optional") and (k == key or k not in seen) for k in [key, *above]):
            raise ValueError(f"{key}: got no such entry, want {want}")
        if got is not None and not _fit(want, got):
            raise ValueError(f"{key}: got {got}, want {want}")
        name = want.get("mask")
        if got is not None and name and name not in seen:
            raise ValueError(f"{key}: got no entry {name!r}, want its mask: add it, or leave out the field mask")
    filled = {parent for key in seen for parent in _parents(key)}
    for key, got in seen.items():
        if key not in known and key not in filled:
            entry = {"key": key, **got}
            raise ValueError(f"the schema does not list {key}: add schema[{key!r}] = {entry}")


def _fit(want: Spec, got: Spec) -> bool:
    if want["kind"] == "text" and got["kind"] == "ragged":
        if got["dtype"] != "uint8" or got.get("depth") != want.get("depth", 0) + 1 or "shape" in got:
            return False
        got = {"kind": "text", "shape": got.get("batch", []), "depth": got["depth"] - 1}
    same = all(want.get(f) in (None, got.get(f)) for f in ("kind", "dtype"))
    depth = want["kind"] == "dictionary" or want.get("depth", 0) == got.get("depth", 0)
    return same and depth and all(_sizes_fit(want.get(f, []), got.get(f, [])) for f in ("batch", "shape"))


def _specs(td: Any, at: tuple[str, ...], dims: int) -> Iterator[tuple[tuple[str, ...], Spec]]:
    """The entries of td, at any depth, as a schema says them; dims is the number of batch dims."""
    for key in _keys(td):
        x = _get(td, key)
        yield (*at, key), _spec_of(x, dims)
        if _is_nested(_first(x)):
            yield from _specs(x, (*at, key), dims)


def _spec_of(x: Any, dims: int) -> Spec:
    first, shape = _first(x), list(_shape(x)[dims:])
    dtypes = {str(getattr(v, "dtype", None)).removeprefix("torch.") for v in _all(x)}
    spec: dict[str, Any] = {"kind": "tensor", "dtype": dtypes.pop() if len(dtypes) == 1 else "None"}
    if _is_nested(first):
        spec["kind"] = "dictionary"
    elif x is not first:
        spec["kind"] = "stacked"
    elif isinstance(x, Ragged):
        values, offsets = x.rows._source.values, x.rows._source.offsets
        spec |= {"kind": "ragged", "batch": shape, "depth": len(offsets)}
        shape = list(values.shape[1:])
    elif is_non_tensor(x):
        spec["kind"] = "data"
    elif isinstance(x, UnbatchedTensor):
        spec |= {"kind": "unbatched", "batch": list(x.batch_size[dims:])}
        shape = list(x.shape)
    elif x.is_nested:
        spec["kind"] = "nested tensor"
    spec["shape"] = shape
    return {f: v for f, v in spec.items() if v and v != "None"}  # type: ignore[return-value]


# A value is an entry, or the stack dim and the values of the members of a lazy stack, None for a
# member that lacks the key.


def _members(x: Any) -> tuple[int, Sequence[Any]] | None:
    x = holder(x)
    if type(x) is LazyStackedTensorDict:
        return x.stack_dim, x.tensordicts
    return x if isinstance(x, tuple) else None


def _all(x: Any) -> list[Any]:
    """The values of all members, also of stacks in stacks; [x] without any."""
    stack = _members(x)
    if stack:
        return [v for m in stack[1] if m is not None for v in _all(m)]
    return [x.rows if isinstance(x, Ragged) else x]


def _first(x: Any) -> Any:
    stack = _members(x)
    return next(_first(m) for m in stack[1] if m is not None) if stack else x


def _fields(x: Any) -> Any:
    """The fields of a tensorclass that it does not keep in its dictionary."""
    return getattr(x, "_non_tensordict", ())


def _keys(x: Any) -> dict[str, None]:
    """The keys of a dictionary; of a lazy stack, those of any member."""
    stack = _members(x)
    below = [k for m in stack[1] if m is not None for k in _keys(m)] if stack else holder(x).keys()
    return dict.fromkeys([*_fields(x), *below])


def _get(x: Any, key: str) -> Any:
    if key in _fields(x):
        return NonTensorData(None, batch_size=_shape(x))
    if stack := _members(x):
        values = [_get(m, key) for m in stack[1]]
        return None if all(v is None for v in values) else (stack[0], values)
    return holder(x).get(key, None) if _is_nested(x) else None


def _shape(x: Any) -> tuple[int, ...]:
    """The leading dims that all members share which have the key."""
    if stack := _members(x):
        common = os.path.commonprefix([_shape(m) for m in stack[1] if m is not None])
        return (*common[: stack[0]], len(stack[1]), *common[stack[0] :])
    if isinstance(x, UnbatchedTensor):
        return (*x.batch_size, *x.shape)
    if isinstance(x, Tensor):
        return () if x.is_nested else tuple(x.shape)
    return tuple(x.batch_size)
