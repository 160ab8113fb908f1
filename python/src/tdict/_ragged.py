"""Ragged columns: a row has a text, a list, or lists of lists, of any length.

A column is a tensorclass, `Ragged`, with one leaf, `Rows`. Rows is a tensor of row numbers into a
Source that never changes. Operations that only move rows (indexing, stacking, views, clones) work
on the row numbers; all others raise. So each operation gives the right result or raises.
"""

from __future__ import annotations

import ctypes
import math
import os
import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from tensordict import TensorDict, tensorclass
from tensordict.base import _NESTED_TENSORS_AS_LISTS_NONTENSOR
from torch import Tensor

_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
_ROW_BITS = 32  # of a row number, below the tag


def _movable(x: Tensor) -> Tensor:
    """x, or its bits as a dtype that torch can index and join."""
    return x.view(_SIGNED.get(x.dtype, x.dtype))


def _offsets(lengths: Tensor) -> Tensor:
    zero = lengths.new_zeros(1)
    return torch.cat([zero, lengths.cumsum(0)])


class Source:
    """The values of a column, [V, F...], and the offsets of each level, the outermost first.

    As in Go, uint8 with one level is text; a schema may say otherwise.
    """

    __slots__ = ("values", "offsets", "text")

    def __init__(self, values: Tensor, offsets: Sequence[Tensor], text: bool | None = None) -> None:
        self.values, self.offsets = values, tuple(offsets)
        bytes_ = values.dtype == torch.uint8 and values.ndim == 1
        self.text = bytes_ and (len(self.offsets) == 1 if text is None else text)

    def __len__(self) -> int:
        return len(self.offsets[0]) - 1 if self.offsets else len(self.values)

    def take(self, rows: Tensor) -> Source:
        """The given rows, [N], in memory of their own."""
        offsets = []
        for level in self.offsets:
            start, length = level[rows], level[rows + 1] - level[rows]
            ends = _offsets(length)
            offsets.append(ends)
            rows = torch.repeat_interleave(start - ends[:-1], length) + torch.arange(
                int(ends[-1]), device=rows.device
            )
        return Source(_movable(self.values)[rows].view(self.values.dtype), offsets, self.text)

    def to(self, device: torch.device) -> Source:
        return Source(self.values.to(device), [x.to(device) for x in self.offsets], self.text)

    @staticmethod
    def join(sources: Sequence[Source]) -> Source:
        first = sources[0]
        for s in sources[1:]:
            a, b = first.values, s.values
            if (len(first.offsets), a.dtype, a.shape[1:]) != (len(s.offsets), b.dtype, b.shape[1:]):
                raise ValueError(
                    f"got ragged columns of {len(first.offsets)} and {len(s.offsets)} levels, "
                    f"{a.dtype} {list(a.shape[1:])} and {b.dtype} {list(b.shape[1:])}, want the same"
                )
        offsets = [
            _offsets(torch.cat([s.offsets[k].diff() for s in sources]))
            for k in range(len(first.offsets))
        ]
        values = torch.cat([_movable(s.values) for s in sources]).view(first.values.dtype)
        return Source(values, offsets, all(s.text for s in sources))


_MOVES = frozenset(
    "alias clone contiguous detach diagonal expand flip gather index index_select "
    "lift_fresh masked_select movedim narrow permute repeat reshape roll select slice split "
    "split_with_sizes squeeze t tile transpose unbind unfold unsafe_split unsqueeze view "
    "_reshape_alias _unsafe_view".split()
)


class Rows(Tensor):
    """The rows of a column as a tensor of their batch shape. Operations that do more than move rows raise."""

    _source: Source
    _rows: Tensor

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, source: Source, rows: Tensor) -> Rows:
        values = source.values
        self: Rows = Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, rows.shape, dtype=values.dtype, device=values.device
        )
        self._source, self._rows = source, rows
        return self

    @property
    def is_nested(self) -> bool:  # type: ignore[override]
        return True  # so that tensordict does not make archives of empty copies

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs, name = kwargs or {}, func.overloadpacket.__name__
        if name in ("cat", "stack"):
            return _joined(func, args[0], args[1:], kwargs)
        first, rest = args[0], (args[1:], kwargs)
        if isinstance(first, Rows) and not _has_rows(rest):
            dtypes = any(isinstance(x, torch.dtype) for x in (*args, *kwargs.values()))
            if name in _MOVES and not dtypes and kwargs.get("out") is None:
                return _wrapped(first._source, func(first._rows, *args[1:], **kwargs))
            if name == "_to_copy" and kwargs.get("dtype", first.dtype) == first.dtype:
                device = kwargs.get("device") or first.device
                return Rows(first._source.to(device), first._rows.to(device))
        raise TypeError(f"{name} of a ragged column: only rows can be picked, moved and joined")

    def compact(self) -> Source:
        """A source with the rows of the column in row-major order, and no others."""
        rows = self._rows.reshape(-1)
        n = len(self._source)
        if len(rows) == n and bool((rows == torch.arange(n, device=rows.device)).all()):
            return self._source
        return self._source.take(rows)

    def share_memory_(self) -> Rows:
        for x in (self._rows, self._source.values, *self._source.offsets):
            x.share_memory_()
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        s = self.compact()
        return _rows_of, (s.values, s.offsets, self.shape, s.text)

    def __repr__(self, **_: Any) -> str:  # type: ignore[override]
        return f"Rows(shape={tuple(self.shape)}, values={self.dtype})"


def _has_rows(x: Any) -> bool:
    if isinstance(x, (list, tuple)):
        return any(map(_has_rows, x))
    return isinstance(x, Rows) or isinstance(x, dict) and any(map(_has_rows, x.values()))


def _wrapped(source: Source, x: Any) -> Any:
    return [Rows(source, y) for y in x] if isinstance(x, (list, tuple)) else Rows(source, x)


def _joined(func: Any, parts: Sequence[Any], rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Rows:
    if not all(isinstance(x, Rows) for x in parts) or kwargs.get("out") is not None:
        raise TypeError("ragged columns cannot be joined with others")
    source = parts[0]._source
    if all(x._source is source for x in parts):
        return Rows(source, func([x._rows for x in parts], *rest, **kwargs))
    sources, numbers, n = [x.compact() for x in parts], [], 0
    for x, s in zip(parts, sources):
        numbers.append(torch.arange(n, n + x.numel(), device=x.device).reshape(x.shape))
        n += x.numel()
    return Rows(Source.join(sources), func(numbers, *rest, **kwargs))


def _rows_of(
    values: Tensor, offsets: Sequence[Tensor], batch: Sequence[int], text: bool | None = None
) -> Rows:
    source = Source(values, offsets, text)
    return Rows(source, torch.arange(len(source), device=values.device).reshape(tuple(batch)))


@tensorclass
class Ragged:
    """A column whose rows have different lengths: an entry of a TensorDict like any other.

    It can be indexed, stacked, joined, reshaped, cloned, pickled and saved like the entries beside
    it. Arithmetic on it, and assignment to some of its rows, raise.
    """

    rows: Rows

    @property
    def is_text(self) -> bool:
        """True for text: a row is a str, or with more than one level a list of str."""
        return self.rows._source.text

    @property
    def lengths(self) -> Tensor:
        """The length of each row, int64 [B...]; of a text, in bytes."""
        x = self.rows
        if not x._source.offsets:
            raise ValueError("a ragged column without levels has no lengths")
        level = x._source.offsets[0]
        return level[x._rows + 1] - level[x._rows]

    def parts(self) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The values, end to end, and the offsets of each level, the outermost first.

        Row i (row-major, if there are several batch dims) has items offsets[0][i] to
        offsets[0][i + 1]: of the values if there is one level, else of offsets[1], and so on.
        """
        s = self.rows.compact()
        return s.values, s.offsets

    def jagged(self) -> Tensor:
        """A jagged tensor [N, *, F...], of a column with one level; batch dims are flattened."""
        values, offsets = self.parts()
        if len(offsets) != 1:
            raise ValueError(f"got {len(offsets)} levels, want 1: use parts()")
        lengths = offsets[0].diff()
        n = lengths.tolist() or [0]
        return torch.nested.nested_tensor_from_jagged(
            values, offsets[0], min_seqlen=min(n), max_seqlen=max(n)
        )

    def texts(self, errors: str = "strict") -> Any:
        """The rows as str, in nested lists: one list for each batch dim, and for each level but the last."""
        values, offsets = self.parts()
        if values.dtype != torch.uint8 or values.ndim != 1 or not offsets:
            raise ValueError(f"got {values.dtype}, want UTF-8 in uint8")
        values = values.cpu().contiguous()
        data = ctypes.string_at(values.data_ptr(), len(values)) if len(values) else b""
        ends = offsets[-1].tolist()
        flat = [data[a:b].decode("utf-8", errors) for a, b in zip(ends, ends[1:])]
        return _nested(flat, offsets[:-1], self.rows.shape)

    def tolist(self, **_: Any) -> Any:
        """The rows as lists; of texts as str. Keywords, which tensordict may pass, are ignored."""
        if self.is_text:
            return self.texts()
        values, offsets = self.parts()
        return _nested(values.tolist(), offsets, self.rows.shape)

    def to_dict(self, **_: Any) -> Any:
        """The same as tolist; to_dict of the dictionary around it calls it."""
        return self.tolist()

    def to_tensordict(self, **_: Any) -> Ragged:
        return self.clone()

    def pack(self) -> TensorDict:
        """The form in files, a dictionary of @lengths, @pool and @row: memmap/FORMAT.md, Ragged tensors."""
        s, batch = self.rows.compact(), self.rows.shape
        n = batch.numel()
        lengths = [x.diff() for x in s.offsets]
        first = lengths[0].reshape(batch) if lengths else torch.zeros((*batch, 0), dtype=torch.int64)
        leaf = TensorDict({"@lengths": first.to(s.values.device)}, batch)
        more = [(f"@lengths{k}", x) for k, x in enumerate(lengths[1:], 2)]
        for name, x in [*more, ("@pool", s.values)]:
            width = -(-len(x) // max(n, 1))
            rest = _movable(x).new_zeros((n * width - len(x), *x.shape[1:]))
            joined = torch.cat([_movable(x), rest]).view(x.dtype)
            leaf[name] = joined.reshape(*batch, width, *x.shape[1:])
        tag = random.SystemRandom().randrange(2**31) << _ROW_BITS
        leaf["@row"] = (torch.arange(n, device=s.values.device) + tag).reshape(batch)
        return leaf

    # tensordict calls these methods. If it did not, Rows would raise.

    def _memmap_(
        self, *, prefix: str | os.PathLike[str] | None = None, like: bool = False,
        executor: Any = None, futures: Any = None, inplace: bool = True, **kwargs: Any,
    ) -> Ragged:  # fmt: skip
        if like or not isinstance(self.rows, Rows) or prefix is None:
            raise TypeError("a ragged column can be saved, and not made like another")
        if inplace:
            raise TypeError("a ragged column is not saved in place: use memmap, not memmap_")
        leaf = self.pack()._memmap_(
            prefix=prefix, like=False, executor=None, futures=None, inplace=False, **kwargs
        )
        saved = unpack(dict(leaf.items()), ())._tensordict
        saved["rows"]._source.text = self.is_text
        saved._is_memmap = saved._is_locked = True
        return Ragged._from_tensordict(saved)

    def _fast_apply(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        consolidating = kwargs.get("is_leaf") is _NESTED_TENSORS_AS_LISTS_NONTENSOR
        if consolidating and kwargs.get("named") and kwargs.get("call_on_nested"):
            return self.pack()._fast_apply(fn, *args, **kwargs)
        return Ragged._from_tensordict(self._tensordict._fast_apply(fn, *args, **kwargs))

    def _reduce_get_metadata(self) -> dict[str, Any]:
        return self._tensordict._reduce_get_metadata()


def _repr(self: Ragged) -> str:
    x = self.rows
    if not isinstance(x, Rows):
        return f"Ragged(batch_size={list(self.batch_size)})"
    stars = ["*"] * len(x._source.offsets)
    dims = ", ".join(map(str, [*x.shape, *stars, *x._source.values.shape[1:]]))
    return f"Ragged({'text' if self.is_text else x.dtype} [{dims}])"


def _equal(self: Ragged, other: Any) -> Tensor:
    """Which rows equal the rows of another column, or one str or list: bool [B...]."""
    rows = self.reshape(-1).tolist()
    if isinstance(other, Ragged):
        if other.batch_size != self.batch_size:
            raise ValueError(f"got the batch shapes {self.batch_size} and {other.batch_size}")
        others = other.reshape(-1).tolist()
    elif isinstance(other, (str, list)):
        others = [other] * len(rows)
    else:
        raise TypeError(f"a ragged column and {type(other).__name__} cannot be compared")
    equal = torch.tensor([a == b for a, b in zip(rows, others)], dtype=torch.bool)
    return equal.reshape(self.batch_size)


def _unequal(self: Ragged, other: Any) -> Tensor:
    return ~_equal(self, other)


# The decorator has set its own.
Ragged.__repr__, Ragged.__eq__, Ragged.__ne__ = _repr, _equal, _unequal
# tensordict writes this name where it saves an entry, and Ragged is saved as a TensorDict.
Ragged.__name__ = "TensorDict"


def _nested(flat: list[Any], offsets: Sequence[Tensor], batch: Sequence[int]) -> Any:
    """flat, in lists of the lengths of each level, in lists of the batch shape."""
    for level in reversed(offsets):
        ends = level.tolist()
        flat = [flat[a:b] for a, b in zip(ends, ends[1:])]
    return shaped(flat, batch)


def shaped(flat: list[Any], batch: Sequence[int]) -> Any:
    """flat, in lists of the batch shape."""
    if len(batch) < 2:
        return flat if batch else flat[0]
    step = math.prod(batch[1:])
    return [shaped(flat[i * step : (i + 1) * step], batch[1:]) for i in range(batch[0])]


def ragged(
    values: Tensor, *lengths: Tensor | Sequence[int], batch: Sequence[int] | None = None
) -> Ragged:
    """A column of values [V, F...], which lie end to end.

    The lists of lengths cut them into rows, one list for each level, the outermost first:
    ragged(torch.tensor([3, 5, 7]), [2, 0, 1]) has the rows [3, 5], [] and [7]. batch is the batch
    shape, by default the number of rows.
    """
    counts = [torch.as_tensor(x, dtype=torch.int64).reshape(-1) for x in lengths]
    shape = torch.Size(batch if batch is not None else [len(counts[0] if counts else values)])
    for outer, inner in zip(counts, [*counts[1:], values]):
        if bool((outer < 0).any()) or int(outer.sum()) != len(inner):
            raise ValueError(f"the lengths of {len(inner)} items add up to {int(outer.sum())}")
    rows = _rows_of(values, [_offsets(x) for x in counts], shape)
    return Ragged(rows=rows, batch_size=shape)


def text(strings: Iterable[str], batch: Sequence[int] | None = None) -> Ragged:
    """A column of texts, one for each row. batch is the batch shape, by default the number of texts."""
    data = [s.encode() for s in strings]
    values = torch.frombuffer(bytearray(b"".join(data) or b"\0"), dtype=torch.uint8)
    return ragged(values[: sum(map(len, data))], [len(b) for b in data], batch=batch)


def is_part(name: str) -> bool:
    """Reports whether a dictionary with an entry of this name is a ragged tensor."""
    return name in ("@pool", "@row", "@lengths") or _level(name) > 0


def _level(name: str) -> int:
    digits = name[len("@lengths") :] if name.startswith("@lengths") else ""
    ok = digits.isascii() and digits.isdigit() and str(int(digits[:4] or 0)) == digits
    return int(digits) if ok and 2 <= int(digits) <= 64 else 0


def unpack(parts: dict[str, Any], batch: Sequence[int]) -> Ragged:
    """The column of a dictionary of parts. Raises ValueError where rows were picked or changed."""
    depth = 1
    while f"@lengths{depth + 1}" in parts:
        depth += 1
    names = ["@lengths", *(f"@lengths{k}" for k in range(2, depth + 1))]
    if set(parts) != {"@row", *names, "@pool"}:
        raise ValueError(f"got the entries {sorted(parts)}, want @row, {', '.join(names)}, @pool")
    if not all(isinstance(x, Tensor) for x in parts.values()):
        raise ValueError("a part of a ragged tensor is not a tensor")
    row = parts["@row"]
    shape, n, b = row.shape, row.numel(), row.ndim
    if list(shape[: len(batch)]) != list(batch):
        raise ValueError(f"@row: got {list(shape)}, want a shape that begins with {list(batch)}")
    for name in ["@row", *names]:
        if parts[name].dtype != torch.int64:
            raise ValueError(f"{name}: got {parts[name].dtype}, want int64")
    flat = row.reshape(-1)
    if n and (int(flat[0]) < 0 or int(flat[0]) % 2**_ROW_BITS):
        raise ValueError("@row: rows were picked, joined or changed: unpack first")
    if n and not torch.equal(flat, torch.arange(n) + flat[0]):
        raise ValueError("@row: rows were picked, joined or changed: unpack first")
    if depth == 1 and parts["@lengths"].shape == (*shape, 0):
        names = []
    elif parts["@lengths"].shape != shape:
        raise ValueError(f"@lengths: got {list(parts['@lengths'].shape)}, want {list(shape)}")
    offsets, count = [], n
    for name in [*names, "@pool"]:
        x = parts[name]
        if name != "@lengths":
            if x.shape[:b] != shape or x.ndim == b or name != "@pool" and x.ndim > b + 1:
                raise ValueError(f"{name}: got {list(x.shape)}, want {list(shape)} and one dim more")
            width = -(-count // n) if n else 0
            if x.shape[b] != width:
                raise ValueError(f"{name}: got the width {x.shape[b]}, want {width}: unpack first")
            x = x.reshape(n * width, *x.shape[b + 1 :])[:count]
        if name == "@pool":
            return Ragged(rows=_rows_of(x, offsets, shape), batch_size=shape)
        lengths = x.reshape(-1)
        total = _offsets(lengths)
        if len(lengths) and (int(lengths.min()) < 0 or int(total.min()) < 0):
            raise ValueError(f"{name}: got a negative length, or a sum of more than 63 bits")
        offsets.append(total)
        count = int(total[-1])
    raise AssertionError
