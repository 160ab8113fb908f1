# Prints a line of JSON for each file, which says what Python's tensordict finds in it, and writes it
# again beside it; or makes files of random dictionaries.
import json, os, random, sys, warnings
warnings.filterwarnings("ignore")
import torch
from tensordict import NonTensorData, NonTensorStack, TensorDict, lazy_stack
from tensordict.utils import _is_non_tensor


def tensor(x):
    x = x.contiguous()
    return {"kind": "tensor", "dtype": str(x.dtype)[6:], "shape": list(x.shape), "hex": bytes(x.reshape(-1).view(torch.uint8).tolist()).hex()}


def describe(v):
    if isinstance(v, torch.Tensor):
        if v.is_nested:
            return {"kind": "nested", "dtype": str(v.dtype)[6:], "components": [tensor(x) for x in v.unbind()]}
        return tensor(v)
    if isinstance(v, NonTensorData):
        return {"kind": "nontensor", "shape": list(v.batch_size), "data": v.data}
    if isinstance(v, NonTensorStack):
        return {"kind": "nontensorstack", "shape": list(v.batch_size), "data": v.tolist()}
    if type(v).__name__ == "LazyStackedTensorDict":
        return {"kind": "lazystack", "stack_dim": v.stack_dim, "shape": list(v.batch_size), "tds": [describe(x) for x in v.tensordicts]}
    names = [n or "" for n in v.names]
    keys = {k: describe(v._get_str(k, None)) for k in v.keys(is_leaf=lambda c: True)}
    return {"kind": "tensordict", "shape": list(v.batch_size), "names": names if any(names) else None, "locked": v.is_locked, "keys": keys}


DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64]


def make(r, batch, depth):
    td = TensorDict({"plain": torch.ones(batch)}, batch)  # else all leaves could be stacked, which ours takes for a stack
    for i in range(r.randrange(6)):
        td[r.choice(["a", "b c", "é/ü", "", "cls.", 'q"']) + str(i)] = value(r, batch, depth)
    if r.random() < 0.2:
        td.lock_()
    return td


def value(r, batch, depth):
    sizes = lambda most: [r.randrange(4) for _ in range(r.randrange(most + 1))]
    kind = r.randrange(6)
    if kind == 5 and depth < 3 and len(batch) and batch[0] and r.random() < 0.5:
        return lazy_stack([TensorDict({"s": torch.ones(batch[1:] + sizes(2)), "in": {"t": torch.ones(batch[1:] + sizes(1))}}, batch[1:]) for _ in range(batch[0])], 0)
    if kind == 0 and depth < 3:
        return make(r, batch + sizes(1), depth + 1)
    if kind == 1 and torch.Size(batch).numel():  # ours has no value without a row
        return NonTensorData(r.choice(["text é\n", 7, 1.5, None, True, [1, "x"], {"k": 1e-7}, 1e300, 0.1]), batch_size=batch)
    if kind == 2 and len(batch) == 1 and batch[0] > 1:
        return NonTensorStack(*[NonTensorData(str(i) if r.random() < 0.7 else i) for i in range(batch[0])])
    if kind == 3 and len(batch) == 1 and batch[0] > 0:
        lengths = torch.tensor([r.randrange(4) for _ in range(batch[0])])
        if r.random() < 0.3:  # with gaps
            offsets = torch.cat([torch.zeros(1, dtype=torch.int64), (lengths + 1).cumsum(0)])
            return torch.nested.nested_tensor_from_jagged(torch.arange(float(offsets[-1])), offsets=offsets, lengths=lengths)
        offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        n = int(offsets[-1])
        return torch.nested.nested_tensor_from_jagged(torch.arange(2.0 * n).view(n, 2), offsets=offsets)
    d = r.choice(DTYPES)
    shape = batch + sizes(2)
    x = torch.tensor([r.randrange(2 if d == torch.bool else 60) for _ in range(torch.Size(shape).numel())]).view(shape).to(d)
    return x.transpose(0, 1).contiguous().transpose(0, 1) if len(shape) > 1 and r.random() < 0.3 else x


if sys.argv[1] == "make":
    for seed in range(int(sys.argv[3])):
        r = random.Random(seed)
        batch = [[], [0], [3], [2, 3]][seed % 4]
        td = make(r, batch, 0)
        file = os.path.join(sys.argv[2], "%d.tdc" % seed)
        if batch and r.random() < 0.3 and not td.is_locked:
            try:
                td.names = ["dim"] + [None] * (len(batch) - 1)
            except Exception:
                pass
        td.consolidate(file)
        print(json.dumps(describe(td)))
else:
    for file in sys.argv[2:]:
        print(json.dumps(describe(TensorDict.from_consolidated(file))))
