"""Opens sys.argv[2] sys.argv[3] times with the package tdict, whose folder is sys.argv[1].

All elements of the dataset are one number, which the text of each row and the number of rows tell
too. Says how many different numbers it has seen, and how often a plain load fails or is mixed.
"""
import sys

sys.path.insert(0, sys.argv[1])

import tdict
import torch
from tensordict import TensorDict


def whole(td):
    n = int(td["a/0"][0])
    dense = [td[f"a/{k}"] for k in range(20)] + [td["obs", "x"]]
    return n if all(len(x) == 3 + n % 5 and bool((x == n).all()) for x in dense) else None


seen, wrong, times = set(), 0, int(sys.argv[3])
for _ in range(times):
    td = tdict.open(sys.argv[2])
    n = whole(td)
    assert n is not None and td["text"].texts() == [f"number {n}"] * (3 + n % 5), td
    seen.add(n)
for _ in range(times):
    try:
        wrong += whole(TensorDict.load_memmap(sys.argv[2])) is None
    except Exception:
        wrong += 1
print(f"opened {times}, versions {len(seen)}, plain loads that failed {wrong}")
