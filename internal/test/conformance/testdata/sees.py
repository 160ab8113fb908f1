"""Opens each dataset sys.argv[2]/*/data* twice, says what it sees, and saves it again.

sys.argv[1] is the folder of the package tdict. Once with TensorDict.load_memmap, saved as plain*;
once with tdict.open, saved as package*. Prints a JSON object for each dataset. Then it waits for
steps on standard input, see TestPythonMeanwhile.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import tdict
import torch
from tensordict import LazyStackedTensorDict, TensorDict, UnbatchedTensor, is_non_tensor, is_tensorclass, tensorclass


@tensorclass
class Frame:
    x: torch.Tensor
    note: str


def say(x):
    "The type of a value with its dtype and shape, or its elements."
    if isinstance(x, tdict.Ragged):
        x = TensorDict({"x": x}, x.batch_size)
        return f"Ragged {tdict.tolist(x, 'x', {})}"
    if isinstance(x, UnbatchedTensor):
        return f"UnbatchedTensor {str(x.dtype).removeprefix('torch.')} {list(x.shape)}"
    if isinstance(x, torch.Tensor) and x.is_nested:
        return f"jagged {str(x.dtype).removeprefix('torch.')} {[row.tolist() for row in x.unbind()]}"
    if isinstance(x, torch.Tensor):
        return f"{str(x.dtype).removeprefix('torch.')} {list(x.shape)}"
    if is_non_tensor(x):
        return f"{type(x).__name__} {x.tolist()}"
    if isinstance(x, LazyStackedTensorDict):
        return f"LazyStackedTensorDict of {', '.join(map(say, x.tensordicts))}"
    name = type(x).__name__
    return f"{name} {list(x.batch_size)} {inside(x)}".removeprefix("TensorDict ")


def inside(td):
    return "{" + ", ".join(f"{key}: {say(x)}" for key, x in sorted(td.items())) + "}"


def all_of(td):
    "A dataset: its only entry, or all entries."
    if isinstance(td, LazyStackedTensorDict) or is_tensorclass(td):
        return say(td)
    names = [n for n in td.names if n]
    if names:
        return f"names {names}"
    if len(td.keys()) == 1:
        return say(next(iter(td.values())))
    return inside(td)


def meant(td):
    "The same, with the meaning that a schema gives to a column."
    for key, spec in tdict.schema(td).items():
        if {"mask", "categories", "time"} & set(spec):
            return f"tolist: {tdict.tolist(td, key)}".replace("datetime.", "")
    return all_of(td)


def load(path):
    return TensorDict.from_consolidated(path) if path.suffix == ".tdc" else TensorDict.load_memmap(path)


def save(td, path):
    td.consolidate(path) if path.suffix == ".tdc" else td.memmap(path, copy_existing=True)


for folder in sorted(Path(sys.argv[2]).iterdir()):
    data = next(p for p in sorted(folder.iterdir()) if p.stem == "data")
    said = {}
    for how, opened, text, keep in (
        ("plain", load(data), all_of, save),
        ("package", tdict.open(data), meant, save if data.suffix == ".tdc" else tdict.save),
    ):
        said[how] = text(opened)
        keep(opened.clone() if (folder / "clone").exists() else opened, folder / (how + data.suffix))
    print(json.dumps(said, ensure_ascii=False), flush=True)

# What happens while Python has a dataset open: sys.argv[3]/STEP/HOW.
ways = {
    "plain": load,
    "package": tdict.open,
    "writable": lambda path: tdict.open(path, writable=True),
}
opened = {at: ways[at.name](at) for at in sorted(Path(sys.argv[3]).glob("*/*"))}
print("opened", flush=True)
input()
for at, td in opened.items():
    if "writes" in at.parent.name:
        td["x"][0] = 9
    print(json.dumps({"at": str(at), "x": td["x"].tolist()}), flush=True)
