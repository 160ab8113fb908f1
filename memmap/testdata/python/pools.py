"""Reads the pools of a dataset while a Writer is at work on it.

    pools.py DIR    loads DIR again and again. Of each dataset with another number of rows it keeps the
                    mappings, and touches every byte of them in each round: the values have to stay as
                    they were. Prints "loaded ROWS VALUES WIDTH" for each, "touched" after a whole
                    round for each line of input, and "done ROUNDS KEPT RETRIES" when the input ends.
"""
import sys
import threading
import warnings

warnings.filterwarnings("ignore")
import torch
from tensordict import TensorDict


class Pool:
    "A pool, with its values as they were when it was loaded."

    def __init__(self, leaf):
        self.pool, depth = leaf["@pool"], 1
        levels = ["@lengths"]
        while f"@lengths{depth + 1}" in leaf.keys():
            depth += 1
            levels.append(f"@lengths{depth}")
        n = leaf["@row"].numel()
        for name in levels:
            n = int(leaf[name].reshape(-1)[:n].sum())
        self.n = n
        self.values = self.flat()[:n].clone()

    def flat(self):
        return torch.Tensor(self.pool.as_subclass(torch.Tensor)).reshape(-1, *self.pool.shape[2:])

    def touch(self):
        "Reads every byte of the mapping, and compares the values."
        flat = self.flat()
        flat.sum()
        return torch.equal(flat[:self.n], self.values)


asked, stopped = threading.Event(), threading.Event()


def listen():
    for _ in sys.stdin:
        asked.set()
    stopped.set()


threading.Thread(target=listen, daemon=True).start()
kept, rounds, retries = {}, 0, 0
while not stopped.is_set():
    tell = asked.is_set()
    try:
        td = TensorDict.load_memmap(sys.argv[1]).unflatten_keys(".")
    except Exception as e:  # Finish has put another directory there meanwhile
        retries += 1
        print("retry", type(e).__name__, *str(e).split()[:8], flush=True)
        continue
    n = td.batch_size[0]
    if n and n not in kept:
        kept[n] = [Pool(td["words"]), Pool(td["obs", "tags"])]
        print("loaded", n, kept[n][0].n, kept[n][0].pool.shape[1], flush=True)
    for n, pools in kept.items():
        for p in pools:
            if not p.touch():
                print("changed: of", n, "rows,", p.n, "values", flush=True)
                sys.exit(1)
    rounds += 1
    if tell:
        asked.clear()
        print("touched", flush=True)
print("done", rounds, len(kept), retries, flush=True)
