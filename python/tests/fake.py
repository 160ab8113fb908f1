"""A feed that a test drives: slots made by tensordict, and whatever bytes the test sends."""

from __future__ import annotations

import json
import os
import socket
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tensordict import TensorDict

NO_SLOT, EPOCH, STATE, ERROR, END = 0xFFFFFFF0, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF


class Peer:
    """The connection of one consumer."""

    def __init__(self, connection: socket.socket, slots: list[TensorDict]) -> None:
        self.socket, self.slots = connection, slots
        self.free = list(range(len(slots)))
        self.line = b""
        self.given_back: list[int] = []

    def request(self) -> dict[str, Any]:
        while not self.line.endswith(b"\n"):
            self.line += self.socket.recv(1)
        return json.loads(self.line)

    def send(self, slot: int, rows: int = 0, epoch: int = 0, batch: int = 0, after: bytes = b"") -> None:
        self.socket.sendall(struct.pack("<IIQQ", slot, rows, epoch, batch) + after)

    def slot(self) -> int:
        """A free slot; waits until the consumer gives one back."""
        while not self.free:
            data = self.socket.recv(4 * 1024)
            if not data:
                raise ConnectionError("the consumer is gone")
            while len(data) % 4:
                data += self.socket.recv(1)
            for (n,) in struct.iter_unpack("<I", data):
                assert 0 <= n < len(self.slots) and n not in self.free
                self.free.append(n)
                self.given_back.append(n)
        return self.free.pop(0)

    def batch(self, number: int, rows: int, epoch: int, batch: int) -> None:
        """Fills a slot with a number, and announces it."""
        slot = self.slot()
        for x in self.slots[slot].values():
            x[:rows] = number
        self.send(slot, rows, epoch, batch)

    def epoch(self, epoch: int, sizes: list[int], first: int = 0) -> None:
        for i in range(first, len(sizes)):
            self.batch(100 * epoch + i, sizes[i], epoch, i + 1)
        self.send(EPOCH, epoch=epoch)


class FakeFeed:
    """Serves one consumer after another with a function, in a thread."""

    def __init__(self, folder: Path, serve: Callable[[Peer], None], rows: int = 4, slots: int = 3, **hello: Any) -> None:
        self.path = str(folder / "feed.sock")
        self.error: BaseException | None = None
        prototype = TensorDict({"x": torch.zeros(rows, 2), "y": torch.zeros(rows, dtype=torch.int64)}, [rows])
        names = [str(folder / f"slot{i}") for i in range(slots)]
        self.slots = [prototype.clone().memmap(name) for name in names]
        schema = {"version": 1, "entries": [{"key": "x", "kind": "tensor", "dtype": "float32", "shape": [2]},
                                            {"key": "y", "kind": "tensor", "dtype": "int64"}]}  # fmt: skip
        self.hello = {"version": 1, "rank": 0, "world": 1, "rows": rows, "epochs": 2, "slots": names,
                      "schema": schema, "state": {"seed": 5, "epoch": 0, "batch": 0}, **hello}  # fmt: skip
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen()
        self.serve = serve
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                try:
                    peer = Peer(connection, self.slots)
                    peer.requested = peer.request()  # type: ignore[attr-defined]
                    peer.hello = self.hello  # type: ignore[attr-defined]
                    self.serve(peer)
                except (ConnectionError, OSError):
                    pass
                except BaseException as e:
                    self.error = e

    def greet(self, peer: Peer, **hello: Any) -> None:
        state = peer.requested["state"]  # type: ignore[attr-defined]
        hello = {"state": {**self.hello["state"], **state}, **hello} if state else hello
        peer.socket.sendall(json.dumps({**self.hello, **hello}).encode() + b"\n")

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)
        assert self.error is None, self.error
