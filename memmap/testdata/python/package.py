"""Opens each sys.argv[2]/*/data with the package tdict, whose folder is sys.argv[1].

Saves what it has opened as all, and rows 1, 3 ... as picked, in each form.
"""
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])

import tdict
import torch

for folder in sorted(Path(sys.argv[2]).iterdir()):
    td = tdict.open(folder / "data")
    b = td.batch_size
    rows = td[torch.arange(b[0]) % 2 == 1] if b else td
    for name, x in (("all", td), ("picked", rows)):
        x.memmap(folder / name)
        x.memmap(folder / f"{name}.tdz")
        if folder.name != "beside others":  # tensordict consolidates no unbatched tensor
            x.consolidate(folder / f"{name}.tdc")
        for form in ("", ".tdz"):
            again = tdict.open(folder / f"{name}{form}")
            again.memmap(folder / f"{name}{form}-again")
    if folder.name.startswith("text"):
        assert td["text"].texts() == (folder / "text").read_text().split("|"), folder
