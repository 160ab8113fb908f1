"""Times epochs of a directory with torch: python epochs.py DIR BATCH. Prints one JSON object."""

import json
import sys
import time

import torch
from tensordict import TensorDict
from torch.utils.data import DataLoader, TensorDataset

directory, batch = sys.argv[1], int(sys.argv[2])
td = TensorDict.load_memmap(directory)


def by_hand():
    for rows in torch.randperm(len(td)).split(batch):
        yield td[rows]


def row_by_row(workers):
    return DataLoader(TensorDataset(td["x"], td["y"]), batch, shuffle=True, num_workers=workers)


def whole_batches(workers):
    return DataLoader(td, batch, shuffle=True, num_workers=workers, collate_fn=lambda x: x)


def seconds(batches):
    start = time.perf_counter()
    rows = sum(len(b) if isinstance(b, TensorDict) else len(b[0]) for b in batches)
    took = time.perf_counter() - start
    assert rows == len(td)
    return took


seconds(by_hand())  # touches every page once
print(json.dumps({
    "hand": seconds(by_hand()),
    "rows0": seconds(row_by_row(0)),
    "rows2": seconds(row_by_row(2)),
    "batches0": seconds(whole_batches(0)),
    "batches2": seconds(whole_batches(2)),
}))
