"""Batches of a Go program's loader, in shared memory: docs/feed.md."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from collections.abc import Iterator
from typing import Any

from tensordict import TensorDictBase
from torch.utils.data import IterableDataset, get_worker_info

from ._errors import FeedError
from ._open import open as open_dataset
from ._schema import Schema, no_duplicates, parse_schema

_MESSAGE = struct.Struct("<IIQQ")  # slot, rows, epoch, batch
_SIZE = _MESSAGE.size
_NO_SLOT, _EPOCH, _STATE, _ERROR, _END = 0xFFFFFFF0, 0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF
_MAX_HELLO, _MAX_TEXT, _MAX_SLOTS = 16 << 20, 1 << 16, 4096
_PATIENCE = 30.0  # seconds for the answer to the request


class Feed(IterableDataset[TensorDictBase]):
    """The batches of a feed.

    One `for` loop yields the rest of an epoch. A batch is a locked TensorDict of mapped tensors,
    valid until you ask for the next batch: clone it to keep it. Use a Feed in one process and one
    thread; in a DataLoader with num_workers=0, batch_size=None and collate_fn=lambda batch: batch.

        with tdict.Feed("train.sock") as feed:
            while not feed.ended:
                for batch in feed:
                    step(batch)

    rank selects the share of the batches that this process gets; None means the lowest free rank.
    state is a `state` that was saved earlier, from this feed or another one over the same data: the
    feed continues with the batch after it. Raises FeedError if the feed refuses, fails or dies, and
    OSError if nobody listens.

    `rank` is the rank that the feed has given, and `world` the number of ranks. `rows` is the
    largest number of rows in a batch, `epochs` the number of epochs (0: no end), and `schema` the
    schema of a batch.
    """

    rank: int
    world: int
    rows: int  # of the largest batch
    epochs: int  # 0: no end
    schema: Schema

    def __init__(
        self,
        socket_path: str | os.PathLike[str],
        rank: int | None = None,
        state: dict[str, Any] | None = None,
    ) -> None:
        path = os.fspath(socket_path)
        if state is not None and not isinstance(state, dict):
            raise TypeError(f"got a state of type {type(state).__name__}, want a dict, as Feed.state is")
        _check_owner(os.stat(path).st_uid, path)
        self._pid, self._ended = os.getpid(), False
        self._buffer = bytearray(max(1 << 16, _SIZE))
        self._at = self._end = 0
        self._epoch = self._batch = 0
        self._held = -1  # the slot of the batch that the caller has
        self._back: list[bytes] = []  # slots that were not yet given back
        self._loops = 0
        self._why = ""  # why the connection has ended
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(_PATIENCE)
            self._socket.connect(path)
            if sys.platform == "linux":
                peer = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                _check_owner(struct.unpack("3i", peer)[1], path)
            request = {"version": 1, "rank": rank, "state": state}
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            self._hello(self._answer())
            self._socket.settimeout(None)
        except TimeoutError as e:
            self._socket.close()
            raise FeedError(f"{path}: no answer in {_PATIENCE:.0f} s") from e
        except BaseException:
            self._socket.close()
            raise

    def _answer(self) -> bytes:
        """The line that the feed answers with."""
        self._more(1)
        if self._buffer[0] != ord("{"):
            self._control(*self._message())
            raise FeedError("the feed ended before it began")
        line = bytearray()
        while True:
            at = self._buffer.find(b"\n", self._at, self._end)
            stop = self._end if at < 0 else at
            line += self._buffer[self._at : stop]
            self._at = stop
            if at >= 0:
                self._at = at + 1
                return bytes(line)
            if len(line) > _MAX_HELLO:
                raise FeedError(f"got a hello of more than {_MAX_HELLO} bytes")
            self._more(1)

    def _hello(self, line: bytes) -> None:
        try:
            hello = json.loads(line, object_pairs_hook=no_duplicates)
            if hello["version"] != 1:
                raise FeedError(f"got version {hello['version']} of the protocol, want 1")
            slots, self._state = hello["slots"], hello["state"]
            if not isinstance(self._state, dict) or not 0 < len(slots) <= _MAX_SLOTS:
                raise ValueError("got no state, or no slots")
            numbers = [hello[name] for name in ("rank", "world", "rows", "epochs")]
            numbers += [self._state[name] for name in ("epoch", "batch")]
            if not all(type(n) is int and 0 <= n < 1 << (32 if i < 3 else 64) for i, n in enumerate(numbers)):
                raise ValueError(f"got the numbers {numbers}")
            self.rank, self.world, self.rows, self.epochs, self._epoch, self._batch = numbers
            self.schema = parse_schema(hello["schema"])
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise FeedError(f"got a hello that is wrong: {type(e).__name__}: {e}") from e
        self._slots = []
        for path in slots:
            td = open_dataset(str(path), writable=True)
            if td.batch_size[:1] != (self.rows,):
                raise FeedError(f"{path}: got the batch shape {list(td.batch_size)}, want {self.rows} rows")
            self._slots.append(td.lock_())
        self._group = max(1, len(slots) // 4)  # as many are given back at once, at most

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 0. After the loop over an epoch it is the next epoch."""
        return self._epoch

    @property
    def ended(self) -> bool:
        """Whether the last batch of the last epoch was given."""
        return self._ended or 0 < self.epochs <= self._epoch

    @property
    def state(self) -> dict[str, Any]:
        """The position after the last batch, a dict to save as JSON."""
        return {**self._state, "epoch": self._epoch, "batch": self._batch}

    def __iter__(self) -> Iterator[TensorDictBase]:
        if get_worker_info() is not None or os.getpid() != self._pid:
            raise RuntimeError("a Feed belongs to one process: use DataLoader with num_workers=0")
        return self._batches()

    def _batches(self) -> Iterator[TensorDictBase]:
        unpack, slots, full, back = _MESSAGE.unpack_from, self._slots, self.rows, self._back
        self._loops += 1
        loop = self._loops
        if self._held >= 0:
            back.append(_SLOT(self._held))
            self._held = -1
        if self._why and not self.ended:
            raise FeedError(self._why)
        while not self.ended:
            if self._end - self._at < _SIZE:
                self._give(back)
                self._more(_SIZE)
            slot, rows, epoch, batch = unpack(self._buffer, self._at)
            self._at += _SIZE
            if slot >= _NO_SLOT:
                self._give(back)
                if self._control(slot, rows, epoch, batch):
                    return
                continue
            if slot >= len(slots) or rows > full:
                raise self._failed(f"got {rows} rows in slot {slot}, want at most {full} in {len(slots)}")
            if epoch != self._epoch or batch <= self._batch:
                raise self._failed(f"got batch {batch} of epoch {epoch} after {self._batch} of {self._epoch}")
            self._held, self._epoch, self._batch = slot, epoch, batch
            yield slots[slot] if rows == full else slots[slot][:rows].lock_()
            if self._loops != loop:
                return  # another loop has begun
            self._held = -1
            back.append(_SLOT(slot))
            if len(back) >= self._group:
                self._give(back)

    def _message(self) -> tuple[int, int, int, int]:
        self._more(_SIZE)
        self._at += _SIZE
        return _MESSAGE.unpack_from(self._buffer, self._at - _SIZE)

    def _control(self, slot: int, rows: int, epoch: int, batch: int) -> bool:
        """Handles a message that has no slot, and reports whether the epoch has ended."""
        if slot == _END:
            self._ended = True
            self.close()
            return True
        if slot == _EPOCH:
            if epoch != self._epoch:
                raise self._failed(f"got the end of epoch {epoch}, want {self._epoch}")
            self._epoch, self._batch = epoch + 1, 0
            return True
        if slot not in (_ERROR, _STATE) or rows > _MAX_TEXT:
            raise self._failed(f"got the message {slot:#x} of {rows} bytes")
        text = self._take(rows)
        if slot == _ERROR:
            raise self._failed(text.decode("utf-8", "replace"))
        try:
            state = json.loads(text, object_pairs_hook=no_duplicates)
            if (state["epoch"], state["batch"]) != (self._epoch, self._batch):
                raise ValueError(f"want epoch {self._epoch}, batch {self._batch}")
            self._state = state
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise self._failed(f"got a state that is wrong: {e}") from e
        return False

    def _take(self, n: int) -> bytes:
        """The next n bytes."""
        taken = bytearray()
        while len(taken) < n:
            self._more(1)
            stop = min(self._end, self._at + n - len(taken))
            taken += self._buffer[self._at : stop]
            self._at = stop
        return bytes(taken)

    def _more(self, n: int) -> None:
        """Waits until the buffer has n bytes."""
        have = self._end - self._at
        if have >= n:
            return
        self._buffer[:have] = self._buffer[self._at : self._end]
        self._at, self._end = 0, have
        view = memoryview(self._buffer)
        while self._end < n:
            try:
                got = self._socket.recv_into(view[self._end :])
            except TimeoutError:
                raise
            except OSError as e:
                raise self._failed(f"the feed is gone: {e.strerror}") from e
            if got == 0:
                raise self._failed("the feed is gone: it ended without saying so")
            self._end += got

    def _give(self, back: list[bytes]) -> None:
        """Gives slots back."""
        if not back:
            return
        try:
            self._socket.sendall(b"".join(back))
        except OSError:
            pass  # the feed has ended: its last messages are still to be read
        back.clear()

    def _failed(self, text: str) -> FeedError:
        self._why = self._why or text
        self.close()
        return FeedError(text)

    def close(self) -> None:
        """Ends the connection; the batch given last is no longer valid."""
        self._why = self._why or "this feed was closed"
        self._socket.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> Any:
        raise TypeError("a Feed belongs to one process: use DataLoader with num_workers=0")


_SLOT = struct.Struct("<I").pack


def _check_owner(uid: int, path: str) -> None:
    if uid not in (0, os.getuid()):
        raise FeedError(f"{path}: it is of user {uid}, want {os.getuid()} or root")
