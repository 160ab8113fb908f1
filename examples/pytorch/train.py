"""Learns digits from a feed, and times its epochs beside those of torch's DataLoader.

    tdict feed digits --socket /tmp/digits.sock --batch 64 --shuffle --seed 1 --epochs 20
    python train.py /tmp/digits.sock digits
"""

import sys
import time

import tdict
import torch
from torch import nn
from torch.utils.data import DataLoader


def step(model, optimizer, batch):
    """Trains on a batch, and returns the number of rows that the model had right before."""
    labels = batch["meta", "label"]
    scores = model(batch["image"].flatten(1).float() / 16)
    optimizer.zero_grad()
    nn.functional.cross_entropy(scores, labels).backward()
    optimizer.step()
    return int((scores.argmax(1) == labels).sum())


def learn(batches, model, optimizer):
    """Trains for an epoch, and returns the share of rows that were right, and the seconds."""
    start, right, rows = time.perf_counter(), 0, 0
    for batch in batches:
        right += step(model, optimizer, batch)
        rows += len(batch)
    return right / rows, time.perf_counter() - start


def network():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    return model, torch.optim.Adam(model.parameters(), lr=0.003)


def main(socket, directory):
    model, optimizer = network()
    times = []
    with tdict.Feed(socket) as feed:
        while not feed.ended:
            epoch = feed.epoch
            right, seconds = learn(feed, model, optimizer)
            times.append(seconds)
            if epoch % 5 == 4:
                print(f"epoch {epoch + 1}: {right:.1%} right")
    model, optimizer = network()
    loader = DataLoader(tdict.open(directory), 64, shuffle=True, collate_fn=lambda batch: batch)
    beside = [learn(loader, model, optimizer)[1] for _ in range(3)]
    print(f"an epoch takes {1000 * min(times):.0f} ms, and {1000 * min(beside):.0f} ms with DataLoader")


main(*sys.argv[1:])
