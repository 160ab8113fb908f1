from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from typing import Any, BinaryIO

import torch
from tensordict import is_tensor_collection

from ._ragged import Rows

_NAMES = {
    "bool": "BOOL", "uint8": "U8", "int8": "I8", "int16": "I16", "uint16": "U16", "float16": "F16",
    "bfloat16": "BF16", "int32": "I32", "uint32": "U32", "float32": "F32", "complex64": "C64",
    "float64": "F64", "int64": "I64", "uint64": "U64",
}  # fmt: skip


def write_sample(file: BinaryIO, arrays: Mapping[str, Any]) -> None:
    """Writes one sample, as `tdict cache put` reads it, and flushes.

    A sample is its length in 8 bytes, little-endian, and a safetensors file. arrays has a tensor,
    a numpy array or a number under each key. The nested key obs/pos is written obs.pos.
    """
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for key, x in arrays.items():
        if is_tensor_collection(x) or isinstance(x, Rows):
            raise ValueError(f"{key!r}: got {type(x)}, which samples do not have")
        t = torch.as_tensor(x).detach().cpu().resolve_conj().resolve_neg().contiguous()
        name = _NAMES.get(str(t.dtype).removeprefix("torch."))
        if name is None or not isinstance(key, str) or key == "__metadata__":
            raise ValueError(f"{key!r}: got {t.dtype}, which samples do not have")
        start, end = end, end + t.numel() * t.element_size()
        header[key] = {"dtype": name, "shape": list(t.shape), "data_offsets": [start, end]}
        if end > start:
            parts.append(ctypes.string_at(t.data_ptr(), end - start))
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    lengths = [n.to_bytes(8, "little") for n in (8 + len(text) + end, len(text))]
    file.write(b"".join([*lengths, text, *parts]))
    file.flush()
