"""Opens the datasets of Go's memmap and Python's tensordict: memmap/FORMAT.md."""

from __future__ import annotations

import builtins
import itertools
import json
import math
import os
import time
import zipfile
from contextlib import closing
from typing import Any

import tensordict.base
import torch
from tensordict import (
    LazyStackedTensorDict,
    NonTensorData,
    NonTensorStack,
    TensorDict,
    UnbatchedTensor,
    is_non_tensor,
    is_tensorclass,
)
from torch import Tensor

from ._errors import DatasetError
from ._files import MAX_META, Archive, Directory, Node, name_of
from ._ragged import Ragged, is_part, ragged, unpack
from ._schema import DTYPES, Schema, holder, no_duplicates, parse_schema, parts_of

_binary = builtins.open
_MAX_DEPTH, _MAX_DIMS, _MAX_ENTRIES = 256, 64, 200_000
_PATIENCE = 10.0  # seconds of attempts to open a dataset that is replaced all the time
_DTYPES = {f"torch.{name}": dtype for name, dtype in DTYPES.items()}
_DICTS = {"TensorDict", "PersistentTensorDict", "TensorDictParams"}
_FIELDS = {"shape", "device", "_type", "_go", "_crc"}


def open(path: str | os.PathLike[str], *, writable: bool = False) -> TensorDict:
    """The dataset at a path: a directory, an archive (.tdz) or a consolidated file (.tdc).

    Leaves are mapped. If the directory is replaced meanwhile, the result is the old dataset or the
    new one, whole. Ragged tensors and text are `Ragged`. In-place writes do not reach the files,
    unless the dataset is a directory that was opened with writable=True. Raises DatasetError, which
    names the file, and OSError if nothing is there. Never unpickles anything.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        return _directory(path, writable)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: no such dataset")
    if not os.path.isfile(path):
        raise DatasetError(f"{path}: neither a regular file nor a directory")
    if zipfile.is_zipfile(path):
        with closing(Archive(path)) as archive:
            return _loaded(archive)[0]
    return _consolidated(path)


def _directory(path: str, shared: bool) -> TensorDict:
    end = time.monotonic() + _PATIENCE
    while True:
        with closing(Directory.open(path, shared)) as root:
            try:
                td, whole = _loaded(root)
                if whole or not root.replaced() or time.monotonic() > end:
                    return td
            except DatasetError:
                if not root.replaced() or time.monotonic() > end:
                    raise


def _loaded(root: Node) -> tuple[TensorDict, bool]:
    """The dictionary, and whether it is whole even if its directory was being removed."""
    try:
        loader = _Loader()
        td = loader.dictionary(root, (), 0)
        if not _is_dict(td):
            raise DatasetError(f"{root.label}: an entry of a dataset: open the directory around it")
        return _with_schema(td, loader.schema), not loader.uncounted
    except DatasetError:
        raise
    except Exception as e:  # of torch and tensordict, for whatever the files say
        raise DatasetError(f"{root.label}: {type(e).__name__}: {e}") from e


def _is_dict(x: Any) -> bool:
    instance = is_tensorclass(x) and not isinstance(x, Ragged) and not is_non_tensor(x)
    return isinstance(x, TensorDict) or type(x) is LazyStackedTensorDict or instance


def _is_shape(x: Any) -> bool:
    sizes = isinstance(x, list) and all(type(n) is int and n >= 0 for n in x)
    return sizes and len(x) <= _MAX_DIMS and math.prod(n or 1 for n in x) < 2**59


class _Loader:
    """Loads one dataset."""

    def __init__(self) -> None:
        self.entries = 0
        self.uncounted = False  # a lazy stack that does not say how many members it has
        self.schema: Schema | None = None
        self.top = 0  # depth of the outermost dictionary; an instance of a class is around it

    def dictionary(self, node: Node, batch: tuple[int, ...], depth: int) -> Any:
        """The dictionary, or other value, of a directory in a dictionary of a batch shape."""
        where = f"{node.label}/meta.json"
        if depth > _MAX_DEPTH:
            raise DatasetError(f"{where}: nested more than {_MAX_DEPTH} deep")
        meta, fact = self.meta(node, where)
        kind = str(meta.get("_type")).removeprefix("<class '").removesuffix("'>")
        last = kind.rpartition(".")[2]
        if depth == self.top and "schema" in fact:
            try:
                self.schema = parse_schema(fact["schema"])
            except ValueError as e:
                raise DatasetError(f"{where}: the schema: {e}") from e
        if last in _DICTS:
            return self.entries_of(node, where, meta, fact, batch, depth)
        if last == "LazyStackedTensorDict":
            return self.stack(node, where, meta, fact, batch, depth)
        if last in ("NonTensorData", "NonTensorStack", "MetaData"):
            return self.data(node, where, meta, last, batch)
        return self.instance(node, where, meta, kind, batch, depth)

    def meta(self, node: Node, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """The meta.json of a directory, and the native facts in it."""
        text = node.meta()
        try:
            meta = json.loads(text.decode(), object_pairs_hook=no_duplicates)
        except (ValueError, RecursionError) as e:
            raise DatasetError(f"{where}: {e}") from e
        if not isinstance(meta, dict):
            raise DatasetError(f"{where}: got JSON that is not an object")
        facts = meta.get("_go", [{"v": 1}])
        if not isinstance(facts, list) or len(facts) != 1:
            raise DatasetError(f"{where}: _go is not a list of one object")
        return meta, _fact(facts[0], where)

    def entries_of(
        self, node: Node, where: str, meta: dict[str, Any], fact: dict[str, Any],
        outer: tuple[int, ...], depth: int,
    ) -> Any:  # fmt: skip
        if not _is_shape(meta.get("shape")):
            raise DatasetError(f"{where}: got the batch shape {meta.get('shape')}")
        batch = tuple(meta["shape"])
        if batch[: len(outer)] != outer:
            raise DatasetError(f"{where}: got the batch shape {batch}, want it to begin with {outer}")
        tree: dict[str, Any] = {}
        shapes = _nodes(fact, batch, tree, where)
        for key, entry in meta.items():
            if key in _FIELDS or not isinstance(entry, dict):
                continue
            self.entries += 1
            if self.entries > _MAX_ENTRIES:
                raise DatasetError(f"{where}: more than {_MAX_ENTRIES} entries")
            value, path = self.entry(node, where, key, entry, batch, depth)
            _put(tree, path, value, f"{where}: {key}")
        return _made(tree, where, batch, shapes, (), fact.get("names"))

    def entry(
        self, node: Node, where: str, key: str, entry: dict[str, Any], batch: tuple[int, ...], depth: int
    ) -> tuple[Any, list[str]]:
        """The value of an entry, and its path in the dictionary."""
        fact = _fact(entry.get("go", {"v": 1}), f"{where}: {key}")
        name, path = name_of(key), fact.get("path")
        if path is None:
            leaf, dot, part = key.rpartition(".@")
            path = [*leaf.split("."), f"@{part}"] if dot and is_part(f"@{part}") else [key]
        elif not _is_path(path):
            raise DatasetError(f"{where}: {key}: got the path {path}")
        if "type" in entry:
            shape = fact.get("shape", list(batch))
            if not _is_shape(shape) or tuple(shape[: len(batch)]) != batch:
                raise DatasetError(f"{where}: {key}: got the shape {shape}")
            with closing(node.child(_found(node, key, name, ""))) as child:
                return self.dictionary(child, tuple(shape), depth + 1), path
        dtype, shape = _DTYPES.get(str(entry.get("dtype"))), entry.get("shape")
        if dtype is None or not _is_shape(shape):
            raise DatasetError(f"{where}: {key}: got {entry.get('dtype')} {shape}")
        if type(entry.get("is_nested", False)) is not bool:
            raise DatasetError(f"{where}: {key}: got is_nested {entry['is_nested']}")
        if entry.get("is_nested"):
            return _nested_tensor(node, _found(node, key, name, ".memmap"), dtype, shape), path
        size = math.prod(shape) * dtype.itemsize
        if size:
            x = node.map(_found(node, key, name, ".memmap"), size).view(dtype).view(shape)
        else:
            x = torch.empty(shape, dtype=dtype)
        begins = tuple(shape[: len(batch)]) == batch
        if "unbatched" in fact or "go" not in entry and not begins:
            around = fact.get("unbatched", list(batch))
            begins = _is_shape(around) and tuple(around[: len(batch)]) == batch
            x = UnbatchedTensor(x, batch_size=around) if begins else x
        if not begins:
            raise DatasetError(f"{where}: {key}: got {shape}, want it to begin with {list(batch)}")
        return x, path

    def data(self, node: Node, where: str, meta: dict[str, Any], kind: str, batch: tuple[int, ...]) -> Any:
        for pickled in ("other.pickle", "pickle.pkl"):
            if node.has(pickled):
                raise DatasetError(f"{node.label}/{pickled}: pickled data is not read")
        if "data" not in meta:
            raise DatasetError(f'{where}: no field "data"')
        try:
            if kind != "NonTensorStack":
                return NonTensorData(meta["data"], batch_size=batch)
            return _rows_of_data(meta["data"], batch)
        except (ValueError, RecursionError) as e:
            raise DatasetError(f"{where}: {e}") from e

    def stack(
        self, node: Node, where: str, meta: dict[str, Any], fact: dict[str, Any],
        batch: tuple[int, ...], depth: int,
    ) -> Any:  # fmt: skip
        dim, members = meta.get("stack_dim"), []
        if type(dim) is not int or not 0 <= dim < _MAX_DIMS:
            raise DatasetError(f"{where}: got the stack dim {dim}")
        while node.has(str(len(members))):
            with closing(node.child(str(len(members)))) as child:
                members.append(self.dictionary(child, (), depth + 1))
        least, dicts = fact.get("members", 1), all(map(_is_dict, members))
        gap = node.has(str(len(members) + 1))
        if type(least) is not int or len(members) < max(least, 1) or gap or not dicts:
            raise DatasetError(f"{where}: got {len(members)} members, want at least {least}, dictionaries")
        self.uncounted = True  # members of a stack that is being removed may be gone
        try:
            td = LazyStackedTensorDict(*members, stack_dim=dim)
            if "names" in fact:  # a member added later may have fewer dims in common
                names = [*fact["names"], *[""] * td.batch_dims][: td.batch_dims]
                td.names = [name or None for name in names]
            return td
        except (ValueError, RuntimeError, TypeError, IndexError) as e:
            raise DatasetError(f"{where}: {e}") from e

    def instance(
        self, node: Node, where: str, meta: dict[str, Any], kind: str, batch: tuple[int, ...], depth: int
    ) -> Any:
        if node.has("other.pickle"):
            raise DatasetError(f"{node.label}/other.pickle: fields of a {kind} are pickled: not read")
        for cls in tensordict.base._ACCEPTED_CLASSES:
            if str(cls) == f"<class '{kind}'>" and is_tensorclass(cls) and cls is not Ragged:
                break
        else:
            raise DatasetError(f"{where}: {kind} is not a tensorclass that was imported")
        self.top = max(self.top, int(depth == 0))
        with closing(node.child("_tensordict")) as child:
            td = self.dictionary(child, batch, depth + 1)
        fields = {k: v for k, v in meta.items() if k not in ("_type", "_crc", "_go")}
        try:
            return cls._from_tensordict(td, fields)
        except Exception as e:  # the class is the program's own
            raise DatasetError(f"{where}: {kind}: {e}") from e


def _made(
    tree: dict[str, Any], where: str, batch: tuple[int, ...],
    shapes: dict[tuple[str, ...], tuple[int, ...]], at: tuple[str, ...] = (),
    names: Any = None,
) -> Any:  # fmt: skip
    """The dictionary of entries; an entry that is a dict becomes a dictionary too."""
    try:
        if any(map(is_part, tree)):
            return unpack(tree, batch)
        for key, value in tree.items():
            if isinstance(value, dict):
                inner = (*at, key)
                tree[key] = _made(value, where, shapes.get(inner, batch), shapes, inner)
            inner_shape = getattr(tree[key], "batch_size", batch)
            if tuple(inner_shape[: len(batch)]) != batch:
                raise ValueError(f"{key}: got {list(inner_shape)}, want it to begin with {list(batch)}")
        td = TensorDict(tree, batch)
        if names is not None:
            td.names = [name or None for name in names]
    except DatasetError:
        raise
    except (ValueError, TypeError, RuntimeError) as e:
        raise DatasetError(": ".join([where, *at, str(e)])) from e
    return td


def _fact(fact: Any, where: str) -> dict[str, Any]:
    """Native facts of a known version."""
    if not isinstance(fact, dict) or type(fact.get("v")) is not int or fact["v"] != 1:
        version = fact.get("v") if isinstance(fact, dict) else fact
        raise DatasetError(f"{where}: native facts of version {version}, want 1")
    return fact


def _nodes(
    fact: dict[str, Any], batch: tuple[int, ...], tree: dict[str, Any], where: str
) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Puts the dictionaries that a growing dataset will have, and returns their batch shapes."""
    nodes, growing = fact.get("nodes", []), fact.get("growing", False)
    if type(growing) is not bool or not isinstance(nodes, list) or nodes and not batch:
        raise DatasetError(f"{where}: growing {growing}, with the nodes {nodes}")
    shapes: dict[tuple[str, ...], tuple[int, ...]] = {(): batch}
    if sum(len(n.get("path") or ()) for n in nodes if isinstance(n, dict)) > _MAX_ENTRIES:
        raise DatasetError(f"{where}: more than {_MAX_ENTRIES} names of nodes")
    for n in nodes if growing else ():
        path, shape = (n.get("path"), n.get("shape")) if isinstance(n, dict) else (None, None)
        if not _is_path(path) or not _is_shape(shape) or tuple(path) in shapes:
            raise DatasetError(f"{where}: got the node {n}")
        shapes[tuple(path)] = batch + tuple(shape)
        outer = shapes.get(tuple(path[:-1]), ())
        if shapes[tuple(path)][: len(outer)] != outer:
            raise DatasetError(f"{where}: got the node {n} in one of shape {list(outer)}")
        _put(tree, path, {}, f"{where}: node {path}")
    return shapes


def _is_path(path: Any) -> bool:
    return isinstance(path, list) and 0 < len(path) <= _MAX_DEPTH and all(type(p) is str for p in path)


def _put(tree: dict[str, Any], path: list[str], value: Any, where: str) -> None:
    """Puts a value at a path of dictionaries."""
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
        if not isinstance(tree, dict):
            raise DatasetError(f"{where}: two entries of one name")
    if isinstance(value, dict):  # a node
        tree.setdefault(path[-1], value)
    elif path[-1] in tree:
        raise DatasetError(f"{where}: two entries of one name")
    else:
        tree[path[-1]] = value


def _found(node: Node, key: str, name: str, suffix: str) -> str:
    """The name of the file of a key; before 0.13 it was the key itself."""
    plain = not (set(key) & set("/\\\0")) and key not in ("", ".", "..") and key[1:2] != ":"
    if name != key and plain and not node.has(name + suffix):
        return key + suffix
    return name + suffix


def _nested_tensor(node: Node, name: str, dtype: torch.dtype, shape: list[int]) -> Tensor:
    """A nested tensor of Python's, in its strided layout."""
    where = f"{node.label}/{name}"
    if len(shape) != 2:
        raise DatasetError(f"{where}: got a matrix of shapes of shape {shape}")
    sizes = torch.zeros(shape, dtype=torch.int64)
    if sizes.numel():
        at = name.removesuffix(".memmap") + ".shape.memmap"
        sizes = node.map(at, 8 * sizes.numel()).view(torch.int64).view(shape)
    rows = sizes.tolist()
    if not all(map(_is_shape, rows)):
        raise DatasetError(f"{where}: got a component of a negative size")
    counts = [math.prod(row) for row in rows]
    starts = list(itertools.accumulate(counts, initial=0))
    total = starts.pop()
    buffer = torch.empty(0, dtype=dtype)
    if total:
        buffer = node.map(name, total * dtype.itemsize).view(dtype)
    strides = [[math.prod(row[k + 1 :]) for k in range(len(row))] for row in rows]
    return torch._nested_view_from_buffer(
        buffer, sizes.clone(), torch.tensor(strides, dtype=torch.int64).reshape(shape), torch.tensor(starts)
    )


def _rows_of_data(data: Any, batch: tuple[int, ...], depth: int = 0) -> Any:
    """A stack of the values of data, which are nested as deep as the batch has dims."""
    size = batch[depth] if depth < len(batch) else None
    if not isinstance(data, list) or size is not None and len(data) != size:
        raise ValueError(f"got data that is not a list of {size}")
    if depth + 1 < len(batch):
        return NonTensorStack(*(_rows_of_data(x, batch, depth + 1) for x in data), stack_dim=0)
    if not data:
        return NonTensorData(None, batch_size=batch[: depth + 1])
    return NonTensorStack(*(NonTensorData(x, batch_size=()) for x in data), stack_dim=0)


def _consolidated(path: str) -> TensorDict:
    with _binary(path, "rb") as f:
        size = f.seek(0, os.SEEK_END)
        f.seek(max(size - 8, 0))
        length = int.from_bytes(f.read(8), "little")
        if size < 8 or length > min(MAX_META, size - 8):
            raise DatasetError(f"{path}: neither an archive nor a consolidated file")
        f.seek(size - 8 - length)
        text = f.read(length)
    try:
        node = json.loads(text, object_pairs_hook=no_duplicates)
        _check_node(node)
        facts = _facts_of(node)
        schema = facts.get("schema")
        td = _revived(TensorDict.from_consolidated(path), node, "text" not in facts, path)
        return _with_schema(td, None if schema is None else parse_schema(schema))
    except DatasetError:
        raise
    except Exception as e:  # of tensordict, for whatever the file holds
        raise DatasetError(f"{path}: {type(e).__name__}: {e}") from e


def _check_node(node: Any) -> None:
    """Refuses the sizes with which tensordict would make any number of values of a small file."""
    shapes = [node["cls_metadata"].get("batch_size", []), *(x[1] for x in node["non_tensors"].values())]
    most = 2**59 if node["cls"] in _DICTS else 1 << 22
    for shape in shapes:
        if not _is_shape(shape) or math.prod(shape) > most:
            raise ValueError(f"got the shape {shape} in a {node['cls']}")
    for inner in node.values():
        if isinstance(inner, dict) and "cls" in inner and "non_tensors" in inner:
            _check_node(inner)


def _facts_of(node: dict[str, Any]) -> dict[str, Any]:
    """The native facts of a node of a consolidated file."""
    return (node.get("size") or {}).get("go") or {}


def _revived(td: Any, node: Any, python: bool, where: str) -> Any:
    """The result of from_consolidated, with Ragged and UnbatchedTensor in place of their
    consolidated forms. node is its metadata, which Go wrote unless python is true.
    """
    if type(td) is LazyStackedTensorDict:
        members = [_revived(x, node[str(i)], python, where) for i, x in enumerate(td.tensordicts)]
        return LazyStackedTensorDict(*members, stack_dim=td.stack_dim, stack_dim_name=td._td_dim_name)
    if type(td) is not TensorDict:
        return _jagged(td) if isinstance(td, Tensor) and td.is_nested else td
    tree: dict[str, Any] = {}
    unbatched, n = _facts_of(node).get("unbatched", {}), td.batch_dims
    for key, value in td.items():
        if key in unbatched or python and key in node["leaves"] and value.shape[:n] != td.batch_size:
            value = UnbatchedTensor(value, batch_size=unbatched.get(key, td.batch_size))
        leaf, dot, part = key.rpartition(".@")
        flat = dot and is_part(f"@{part}")
        path = [*leaf.split("."), f"@{part}"] if flat else [key]
        _put(tree, path, _revived(value, node.get(key), python, where), f"{where}: {key}")
    return _made(tree, where, tuple(td.batch_size), {}, names=td.names if any(td.names) else None)


def _jagged(x: Tensor) -> Any:
    if x.layout is not torch.jagged or x._ragged_idx != 1:  # type: ignore[attr-defined]
        return x
    values, ends, lengths = x.values(), x.offsets(), x.lengths()  # type: ignore[attr-defined]
    if int(ends[0]) != 0 or bool((ends.diff() < 0).any()) or int(ends[-1]) > len(values):
        raise ValueError("the offsets of a jagged tensor are wrong")
    if lengths is None:
        return ragged(values[: int(ends[-1])], ends.diff())
    parts = [values[a : a + n] for a, n in zip(ends.tolist(), lengths.tolist())]
    return ragged(torch.cat([values[:0], *parts]), lengths)


def _with_schema(td: Any, schema: Schema | None) -> Any:
    """td, with its schema and with its columns of text marked."""
    for key, spec in (schema or {}).items():
        x = td.get(parts_of(key), None) if spec["kind"] in ("text", "ragged") else None
        if isinstance(x, Ragged) and x.rows.dtype == torch.uint8:
            x.rows._source.text = spec["kind"] == "text"
    holder(td)._tdict_schema = schema or {}
    return td
