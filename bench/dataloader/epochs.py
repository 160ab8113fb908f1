"""Times epochs of a directory with torch: python epochs.py DIR BATCH SOCKET. Prints one JSON object."""

import json
import sys
import time

import tdict
import torch
from tensordict import TensorDict
from torch.utils.data import DataLoader, TensorDataset

directory, batch = sys.argv[1], int(sys.argv[2])
td = TensorDict.load_memmap(directory)


def by_hand():
    for rows in torch.randperm(len(td)).split(batch):
        yield td[rows]


def of_rows(workers):
    return DataLoader(TensorDataset(td["x"], td["y"]), batch, shuffle=True,
                      num_workers=workers, persistent_workers=workers > 0)


def of_batches(workers):
    return DataLoader(td, batch, shuffle=True, collate_fn=lambda x: x,
                      num_workers=workers, persistent_workers=workers > 0)


def of_feed():
    with tdict.Feed(sys.argv[3]) as feed:
        return second(feed)


def seconds(batches):
    start = time.perf_counter()
    rows = sum(len(b) if isinstance(b, TensorDict) else len(b[0]) for b in batches)
    took = time.perf_counter() - start
    assert rows == len(td)
    return took


def second(loader):
    """The second epoch, for which the workers are there."""
    seconds(loader)
    return seconds(loader)


def faster(fn):
    """The faster one of an epoch with one thread and one with as many as torch takes."""
    times = []
    for n in (1, threads):
        torch.set_num_threads(n)
        times.append(seconds(fn()))
    return min(times)


threads = torch.get_num_threads()
seconds(by_hand())  # touches every page once
print(json.dumps({
    "feed": of_feed(),
    "hand": faster(by_hand),
    "batches0": faster(lambda: of_batches(0)),
    "rows0": faster(lambda: of_rows(0)),
    "batches2": second(of_batches(2)),
    "rows2": second(of_rows(2)),
}))
