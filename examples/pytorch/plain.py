"""Reads batches from a feed with nothing but the standard library of Python.

    tdict feed digits --socket /tmp/digits.sock --batch 64 --shuffle --epochs 2
    python plain.py /tmp/digits.sock

It shows that docs/feed.md is all that a client needs. It sums the labels of each epoch.
"""

import json
import mmap
import os
import socket
import struct
import sys

END, ERROR, STATE, EPOCH = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFC
FORMATS = {"torch.int64": "q", "torch.int32": "i", "torch.uint8": "B", "torch.float32": "f", "torch.float64": "d"}


def open_leaf(slot, key):
    """Maps one leaf of a slot. It returns its elements, and the number of elements in a row."""
    with open(os.path.join(slot, "meta.json"), encoding="utf-8") as file:
        entry = json.load(file)[key]
    with open(os.path.join(slot, key + ".memmap"), "rb") as file:
        bytes_ = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    width = 1
    for size in entry["shape"][1:]:
        width *= size
    return memoryview(bytes_).cast(FORMATS[entry["dtype"]]), width


def batches(connection, reader):
    """Yields what arrives: the number of a slot, of rows, of the epoch and of the batch."""
    while True:
        message = reader.read(24)
        if len(message) < 24:
            raise SystemExit("the feed is gone")
        slot, rows, epoch, batch = struct.unpack("<IIQQ", message)
        if slot == END:
            return
        if slot == ERROR:
            raise SystemExit("the feed says: " + reader.read(rows).decode())
        if slot == STATE:
            reader.read(rows)  # what a program that resumes would store
            continue
        yield slot, rows, epoch, batch
        if slot != EPOCH:
            connection.sendall(struct.pack("<I", slot))  # the slot may be filled again


def main(path, key="meta/label"):
    if os.stat(path).st_uid not in (os.geteuid(), 0):
        raise SystemExit("the socket belongs to another user")
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    connection.sendall(b'{"version":1}\n')
    reader = connection.makefile("rb")
    if reader.peek(1)[:1] != b"{":
        next(batches(connection, reader))  # raises the error of the feed
    hello = json.loads(reader.readline())
    *dirs, name = key.split("/")
    leaves = [open_leaf(os.path.join(slot, *dirs), name) for slot in hello["slots"]]
    rows_seen = total = 0
    for slot, rows, epoch, batch in batches(connection, reader):
        if slot == EPOCH:
            print(f"epoch {epoch}: {rows_seen} rows, the labels add up to {total}")
            rows_seen = total = 0
            continue
        elements, width = leaves[slot]
        total += sum(elements[: rows * width])
        rows_seen += rows


main(*sys.argv[1:])
