"""Random dictionaries, lazy stacks, data and tensorclasses of Python's tensordict.

    stacks.py make SEED COUNT OUT   writes OUT/td_SEED_I/data, a directory, and OUT/td_SEED_I/expected.json
    stacks.py same OUT COPY...      compares each OUT/*/data with OUT/*/COPY, as Python loads both
"""

import json
import random
import shutil
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
import torch
from tensordict import (LazyStackedTensorDict, NonTensorData, NonTensorStack, TensorDict, UnbatchedTensor,
                        is_tensorclass, tensorclass)


@tensorclass
class Frame:
    image: torch.Tensor
    label: torch.Tensor
    note: str = None
    tags: str = None


def describe(x, in_stack=False):
    """A value as in expected.json."""
    if isinstance(x, NonTensorStack):
        return {"kind": "nontensorstack", "shape": list(x.batch_size), "data": x.tolist()}
    if isinstance(x, NonTensorData):
        return {"kind": "nontensor", "shape": list(x.batch_size), "data": x.data}
    if isinstance(x, LazyStackedTensorDict):
        return {"kind": "lazystack", "stack_dim": x.stack_dim, "shape": list(x.batch_size),
                "tds": [describe(m, True) for m in x.tensordicts]}
    if isinstance(x, UnbatchedTensor):
        return {**describe(x.data), "kind": "unbatched"}
    if is_tensorclass(x):
        return {"kind": "tensorclass", "shape": list(x.batch_size), "tensordict": describe(x._tensordict, in_stack),
                "non_tensor": {k: v for k, v in x._non_tensordict.items()}}
    if isinstance(x, torch.Tensor):
        return {"kind": "tensor", "dtype": str(x.dtype).removeprefix("torch."), "shape": list(x.shape),
                "hex": x.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes().hex()}
    keys = sorted(x.keys()) if in_stack else list(x.keys())
    return {"kind": "tensordict", "shape": list(x.batch_size), "order": keys, "keys": {k: describe(x.get(k), in_stack) for k in keys}}


def shared(x):
    """x with data that has one value in all rows as nontensor, as this module saves it."""
    if isinstance(x, list):
        return [shared(y) for y in x]
    if not isinstance(x, dict):
        return x
    if x.get("kind") == "nontensorstack":
        values = [json.dumps(y) for y in flat(x["data"], len(x["shape"]))]
        if len(set(values)) == 1:
            return {"kind": "nontensor", "shape": x["shape"], "data": json.loads(values[0])}
    return {k: shared(v) for k, v in x.items()}


def classless(x):
    """x without classes, which the consolidated form loses: the fields of None are entries."""
    if isinstance(x, list):
        return [classless(y) for y in x]
    if not isinstance(x, dict):
        return x
    if x.get("kind") == "tensorclass":
        td = classless(x["tensordict"])
        for k, v in x["non_tensor"].items():
            if k not in td["keys"]:
                td["keys"][k] = {"kind": "nontensor", "shape": td["shape"], "data": v}
                td["order"].append(k)
        return td
    return {k: classless(v) for k, v in x.items()}


def unordered(x):
    """x with the keys of dictionaries sorted: a consolidated file lists data before tensors."""
    if isinstance(x, list):
        return [unordered(y) for y in x]
    if not isinstance(x, dict):
        return x
    return {k: sorted(v) if k == "order" else unordered(v) for k, v in x.items()}


def flat(rows, dims):
    return [rows] if dims == 0 else [y for row in rows for y in flat(row, dims - 1)]


NAMES = ["a", "b", "obs", "x y", "k.1", "0", "-", "next", "_u", "q'"]


def leaf(batch):
    shape = batch + [R.choice([1, 2, 3])] * R.randint(0, 2)
    return torch.randint(0, 99, shape).to(R.choice([torch.int64, torch.float32, torch.uint8]))


def rows(batch):
    return [rows(batch[1:]) for _ in range(batch[0])] if batch else R.choice(["p", 1, None, "q"])


def dictionary(batch, depth=0):
    td = TensorDict({}, batch)
    for key in R.sample(NAMES, R.randint(0 if depth else 1, 3)):
        r = R.random()
        if r < .3:
            td[key] = leaf(batch)
        elif r < .4:
            td.set_non_tensor(key, R.choice(["text", 3, None, [1, "a"], {"k": 1}]))
        elif r < .5 and batch:
            td[key] = NonTensorStack.from_list(rows(batch))
        elif r < .65 and depth < 3:
            td[key] = dictionary(batch + ([R.randint(1, 2)] if R.random() < .3 else []), depth + 1)
        elif r < .85 and depth < 2:
            td[key] = stack(batch, depth + 1)
        elif r < .9:
            td[key] = TensorDict({}, batch)
        elif r < .95:
            td[key] = UnbatchedTensor(leaf([R.randint(2, 5)]))
        elif len(batch) == 1:
            td[key] = Frame(image=torch.rand(batch + [2, 2]), label=torch.randint(0, 9, batch),
                            note=R.choice(["x", "ü"]), tags=R.choice([None, "z"]), batch_size=batch)
    return td


def stack(batch, depth=0):
    """A lazy stack of the given batch size, along one of its dims, of members with the same or with different keys."""
    if not batch:
        return dictionary(batch, depth)
    dim = R.randrange(len(batch))
    rest = batch[:dim] + batch[dim + 1:]
    first = dictionary(rest, depth + 1)
    members = [first.clone() for _ in range(batch[dim])]
    if R.random() < .5:
        for m in members:
            if R.random() < .4:
                m["e%d" % R.randint(0, 1)] = leaf(rest)
            if R.random() < .2:
                m["f"] = TensorDict({}, rest)
    return LazyStackedTensorDict(*members, stack_dim=dim)


def make(seed, count, out):
    refused = 0
    for i in range(count):
        batch = [R.randint(1, 3) for _ in range(R.randint(1, 2))]
        at = out / f"td_{seed}_{i}"
        at.mkdir(parents=True)
        try:
            td = stack(batch) if R.random() < .6 else dictionary(batch)
            td.memmap(at / "data")
            root = describe(TensorDict.load_memmap(at / "data"))
            try:
                td.consolidate(at / "data.tdc")
                (at / "consolidated.json").write_text(json.dumps(describe(load(at / "data.tdc"))))
            except Exception:  # classes in dictionaries, data in stacks
                (at / "data.tdc").unlink(missing_ok=True)
        except Exception:  # tensordict cannot save it, or not load what it saved
            refused += 1
            shutil.rmtree(at)
            continue
        (at / "expected.json").write_text(json.dumps({"root": root}))
    print(count - refused, "made")


def same(out, copies):
    for at in sorted(out.iterdir()):
        want = shared(json.loads((at / "expected.json").read_text())["root"])
        for name in copies:
            if not (at / name).exists():
                print("lacks", at.name, name)
                continue
            try:
                got = shared(json.loads(json.dumps(describe(load(at / name)))))
            except Exception as e:
                print("cannot load", at.name, name, type(e).__name__, str(e)[:200].replace("\n", " "))
                continue
            if name.endswith(".tdc"):
                got, expected = unordered(got), unordered(classless(want))
            else:
                expected = want
            if got != expected:
                print("differs", at.name, name, difference(expected, got))


def load(path):
    if path.suffix == ".tdc":
        return TensorDict.from_consolidated(path)
    return TensorDict.load_memmap(path)


def difference(a, b, at=""):
    """The first place where two descriptions differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for k in [*a, *b]:
            if k not in a or k not in b:
                return f"{at}/{k} in one only"
            if a[k] != b[k]:
                return difference(a[k], b[k], f"{at}/{k}")
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return difference(x, y, f"{at}/{i}")
    return f"{at}: {str(a)[:200]} != {str(b)[:200]}"


if sys.argv[1] == "make":
    R = random.Random(int(sys.argv[2]))
    torch.manual_seed(int(sys.argv[2]))
    make(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
else:
    same(Path(sys.argv[2]), sys.argv[3:])
