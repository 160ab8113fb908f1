"""Runs the functions of docs/from-python.md, which are put before this text.

For each sys.argv[1]/*/data: unpacks and packs each ragged leaf, and saves the dictionary as packed. Text,
jagged tensors and rows that can be picked go there and back too, and rows 1, 3 ... are picked and saved
as picked.
"""
import sys
from pathlib import Path


def leaves(td, at=()):
    "The keys of ragged leaves."
    if "@pool" in td.keys():
        return [at]
    return [k for name in td.keys() if isinstance(td.get(name), TensorDict) for k in leaves(td.get(name), (*at, name))]


def like(a, b):
    "Whether two ragged leaves have the same parts, but for the row numbers."
    return set(a.keys()) == set(b.keys()) and all(torch.equal(x, y) for x, y in zip(unpack(a), unpack(b)))


for folder in sorted(Path(sys.argv[1]).iterdir()):
    td = TensorDict.load_memmap(folder / "data")
    if (folder / "flat").exists():
        td = td.unflatten_keys(".")
    keys, packed = leaves(td), td.clone()
    b = td.batch_size
    mask = torch.arange(b[0] if b else 0) % 2 == 1
    picked = TensorDict({}, mask.sum().reshape(1).tolist() + list(b[1:]))
    for key in keys:
        leaf = td[key]
        packed[key] = pack(*unpack(leaf))
        assert like(leaf, packed[key]), (folder, key)
        one = leaf["@row"].dim() == 1 and "@lengths2" not in leaf.keys()
        if one and leaf["@row"].numel() and leaf["@pool"].numel():
            x = jagged(leaf)
            assert [len(r) for r in x.unbind()] == leaf["@lengths"].tolist()
            assert like(leaf, pack(x.values(), x.offsets().diff()))
        if key[-1] == "text":
            assert like(leaf, pack_texts(texts(leaf))) and texts(leaf) == (folder / "text").read_text().split("|")
        if one:
            rows = pickable(leaf)
            assert like(leaf, pack_picked(rows))
            if b:
                picked[key] = pack_picked(rows[mask])
        if b and b[0] > 1:
            for wrong in (leaf[1:], torch.cat([leaf, leaf]), leaf.apply(lambda x: x.clone().zero_())):
                try:
                    unpack(wrong)
                except ValueError:
                    continue
                raise AssertionError((folder, key))
    packed.memmap(folder / "packed")
    if picked.keys():
        picked.memmap(folder / "picked")
