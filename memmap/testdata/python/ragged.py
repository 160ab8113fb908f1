"""Puts datasets with ragged leaves through the operations of tensordict.

    ragged.py ops TOP     for each TOP/*/*: loads data (or data.tdz, data.tdc) and other, saves what each
                          operation makes, and lists the operations in results.json
    ragged.py pack TOP    for each TOP/*/rows.json: packs the rows, and saves the dictionary as data
"""
import json
import random
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
import torch
from tensordict import LazyStackedTensorDict, TensorDict, pad, tensorclass


@tensorclass
class Holder:
    td: TensorDict


def load(path):
    "The dataset of any form."
    return TensorDict.from_consolidated(path) if path.suffix == ".tdc" else TensorDict.load_memmap(path)


def save(td, path, suffix):
    "Saves td: a consolidated file if suffix is .tdc, as memmap takes no jagged tensors."
    if suffix != ".tdc":
        td.memmap(path, copy_existing=True)
        return path
    path = path.with_name(path.name + ".tdc")
    td.apply(torch.clone).consolidate(path)  # a consolidated td stays in its own file
    return path


def parts(td, name):
    "The keys of the leaves that are parts of the given name."
    last = lambda key: key[-1] if isinstance(key, tuple) else key
    return [key for key in td.keys(True, True) if last(key) == name or last(key).endswith("." + name)]


def clone(td, change=lambda td: None):
    "A copy of td that was changed."
    c = td.apply(torch.clone)  # clone() fails for torch.uint16
    change(c)
    return c


def added(td, key):
    "Adds a part beside the one under key."
    more = key[:-1] + (key[-1].replace("@row", "@lengths9"),) if isinstance(key, tuple) else key.replace("@row", "@lengths9")
    td[more] = td[key].clone()


def changed(td, name, fn):
    "A copy of td of which the parts of a name are what fn makes of them."
    def change(c):
        for key in parts(c, name):
            c[key] = fn(c[key])
    return clone(td, change)


def operations(td, other, at):
    "Names of operations, each with a function that returns its result or the path where it saved it."
    b = td.batch_size
    n = b[0] if len(b) else 0
    odd = torch.arange(n) % 2 == 1
    copy = changed(td, "@pool", torch.zeros_like)
    back = list(range(n - 1, -1, -1))

    def saved(x, name, **options):
        x.memmap(at / name, **options)
        return at / name

    def consolidated():
        clone(td).consolidate(at / "consolidate.tdc")
        return at / "consolidate.tdc"

    def reloaded():
        clone(td).consolidate(at / "again.tdc")
        return TensorDict.from_consolidated(at / "again.tdc")

    def pickled():
        torch.save(td, at / "pickle")
        return torch.load(at / "pickle", weights_only=False)

    def assign(c, to, value):
        c[to] = value

    return {
        "load": lambda: td,
        "clone": td.clone,
        "shallow clone": lambda: td.clone(False),
        "contiguous": td.contiguous,
        "detach": td.detach,
        "lock": lambda: clone(td).lock_(),
        "num_threads": lambda: saved(clone(td), "threads", num_threads=2),
        "archive": lambda: saved(clone(td), "archive.tdz"),
        "consolidate": consolidated,
        "from_consolidated": reloaded,
        "torch.save": pickled,
        "tensorclass": lambda: Holder(td=clone(td), batch_size=b),
        "lazy stack": lambda: LazyStackedTensorDict(clone(td), clone(td)),
        "to_dict": lambda: TensorDict.from_dict(td.to_dict(), batch_size=b),
        "apply": lambda: td.apply(torch.clone),
        "update": lambda: td.empty().update(td),
        "flatten": lambda: clone(td).flatten_keys(".").unflatten_keys("."),
        "flattened": lambda: clone(td).flatten_keys("."),
        "unsqueeze": lambda: td.unsqueeze(0),
        "stack of one": lambda: torch.stack([td]),
        "split and cat": lambda: torch.cat(td.split(1)),
        "[:]": lambda: td[:],
        "reshape": lambda: td.reshape(-1),

        "[0]": lambda: td[0],
        "[:2]": lambda: td[:2],
        "[:-1]": lambda: td[:-1],
        "split": lambda: td.split(2)[0],
        "unbind": lambda: td.unbind(0)[0],

        "[1:]": lambda: td[1:],
        "[-1]": lambda: td[-1],
        "[::2]": lambda: td[::2],
        "mask": lambda: td[odd],
        "mask, threads": lambda: saved(td[odd], "mask", num_threads=2),
        "list": lambda: td[back],
        "flip": lambda: td.flip(0),
        "roll": lambda: td.roll(1, 0),
        "gather": lambda: td.gather(0, torch.tensor(back)),
        "stack": lambda: torch.stack([td, td]),
        "stack, 1": lambda: torch.stack([td, td], 1),
        "cat": lambda: torch.cat([td, td]),
        "cat others": lambda: torch.cat([td, other]),
        "cat parts of others": lambda: torch.cat([td[:1], other[1:]]),
        "expand": lambda: td.expand(2, *b),
        "repeat": lambda: td.repeat(2, *[1] * (len(b) - 1)),
        "repeat_interleave": lambda: td.repeat_interleave(2, dim=0),
        "expand and transpose": lambda: td.unsqueeze(1).expand(n, 2, *b[1:]).transpose(0, 1),
        "transpose": lambda: td.transpose(0, 1),
        "pad": lambda: pad(td, [0, 2] + [0] * (2 * len(b) - 2)),
        "a row again": lambda: torch.cat([td[:1], td[:1], td[2:]]),
        "assigned row": lambda: clone(td, lambda c: assign(c, 0, td[1])),
        "assigned row of others": lambda: clone(td, lambda c: assign(c, 0, other[0])),
        "assigned mask of others": lambda: clone(td, lambda c: assign(c, odd, other[odd])),
        "where others": lambda: td.where(odd.reshape(-1, *[1] * (len(b) - 1)).expand(b), other),
        "apply + 1": lambda: td.apply(lambda x: x + 1),
        "+ 1": lambda: td + 1,
        "zero_": lambda: clone(td).zero_(),
        "mul": lambda: td * 2,
        "float": td.float,
        "to int32": lambda: td.to(torch.int32),
        "lengths + 1": lambda: changed(td, "@lengths", lambda x: x + 1),
        "lengths negated": lambda: changed(td, "@lengths", lambda x: -x - 1),
        "lengths of 2**62": lambda: changed(td, "@lengths", lambda x: x + 2**62),
        "rows negated": lambda: changed(td, "@row", lambda x: -x - 1),
        "rows from 1": lambda: changed(td, "@row", lambda x: x + 1),
        "rows of int32": lambda: changed(td, "@row", lambda x: x.int()),
        "lengths of int32": lambda: changed(td, "@lengths", lambda x: x.int()),
        "wider pool": lambda: changed(td, "@pool", lambda x: torch.cat([x, x], len(b))),
        "no pool": lambda: clone(td, lambda c: [c.del_(k) for k in parts(c, "@pool")]),
        "no rows": lambda: clone(td, lambda c: [c.del_(k) for k in parts(c, "@row")]),
        "no lengths": lambda: clone(td, lambda c: [c.del_(k) for k in parts(c, "@lengths")]),
        "added": lambda: clone(td, lambda c: [added(c, k) for k in parts(c, "@row")]),

        "where a changed copy": lambda: td.where(odd.reshape(-1, *[1] * (len(b) - 1)).expand(b), copy),
        "mask of a changed copy": lambda: clone(td, lambda c: assign(c, odd, copy[odd])),
    }


def run(folder):
    "Puts the dataset in a folder through the operations."
    data = next(p for p in sorted(folder.iterdir()) if p.stem == "data")
    td, other = load(data), load(data.with_name("other" + data.suffix))
    results = []
    for form, own, others in [("", td, other)] if not (folder / "flat").exists() else [
            ("flat", td, other), ("", td.unflatten_keys("."), other.unflatten_keys("."))]:
        at = folder / ("results" + form)
        at.mkdir()
        for name, fn in operations(own, others, at).items():
            result = {"op": name, "flat": form == "flat", "path": "", "raised": ""}
            try:
                made = fn()
                if not isinstance(made, Path):
                    made = save(made, at / name, data.suffix)
                result["path"] = str(made)
            except Exception as e:
                result["raised"] = f"{type(e).__name__}: {e}"[:200]
            results.append(result)
    (folder / "results.json").write_text(json.dumps(results))


def pack(rows, batch, depth, dtype, features):
    "The dictionary of nested lists, one for each row of the batch, row by row."
    out, n = {}, len(rows)

    def spread(x):
        width = -(-len(x) // n) if n else 0
        full = x.new_zeros((n * width, *x.shape[1:]))
        full[:len(x)] = x
        return full.reshape(*batch, width, *x.shape[1:])

    for level in range(1, depth + 1):
        lengths = torch.tensor([len(r) for r in rows], dtype=torch.int64)
        out["@lengths" + (str(level) if level > 1 else "")] = spread(lengths) if level > 1 else lengths.reshape(batch)
        rows = [x for r in rows for x in r]
    out["@pool"] = spread(torch.tensor(rows, dtype=getattr(torch, dtype)).reshape(len(rows), *features))
    out["@row"] = (torch.arange(n) + (random.randrange(1, 2**31) << 32)).reshape(batch)
    return TensorDict(out, batch)


for folder in sorted(Path(sys.argv[2]).glob("*/*") if sys.argv[1] == "ops" else Path(sys.argv[2]).iterdir()):
    if sys.argv[1] == "ops":
        run(folder)
    else:
        leaves = json.loads((folder / "rows.json").read_text())
        td = TensorDict({}, leaves.pop("batch"))
        for key, leaf in leaves.items():
            td[tuple(key.split("/"))] = pack(**leaf)
        td.memmap(folder / "data")
