from __future__ import annotations

import json
import os
import pickle
import random
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from fake import END, EPOCH, ERROR, STATE, FakeFeed, Peer
from torch.utils.data import DataLoader

import tdict

SIZES = [4, 4, 4, 4, 2]


@pytest.fixture
def feed_of(tmp_path: Path) -> Iterator[Callable[..., FakeFeed]]:
    """Starts a feed that serves with a function, after hello."""
    feeds = []

    def start(serve: Callable[[Peer], None], greet: bool = True, **hello: Any) -> FakeFeed:
        def served(peer: Peer) -> None:
            if greet:
                feeds[-1].greet(peer)
            serve(peer)

        feeds.append(FakeFeed(tmp_path, served, **hello))
        return feeds[-1]

    yield start
    for feed in feeds:
        feed.close()


def two_epochs(peer: Peer) -> None:
    state = peer.requested["state"] or {"epoch": 0, "batch": 0}  # type: ignore[attr-defined]
    for epoch in range(state["epoch"], 2):
        peer.epoch(epoch, SIZES, state["batch"] if epoch == state["epoch"] else 0)
    peer.send(END)


def seen(batch: Any) -> tuple[int, int]:
    """The number of a batch and its rows, which all elements have."""
    n, values = len(batch), {*batch["x"].flatten().tolist(), *batch["y"].tolist()}
    assert len(values) == 1, values
    return int(values.pop()), n


def test_epochs(feed_of: Callable[..., FakeFeed]) -> None:
    server = feed_of(two_epochs)
    with tdict.Feed(server.path) as feed:
        assert (feed.rank, feed.world, feed.rows, feed.epochs) == (0, 1, 4, 2)
        assert list(feed.schema) == ["x", "y"] and not feed.ended and feed.epoch == 0
        for epoch in range(2):
            got = []
            for batch in feed:
                got.append(seen(batch))
                assert feed.state == {"seed": 5, "epoch": epoch, "batch": len(got)} and feed.epoch == epoch
                with pytest.raises(RuntimeError):
                    batch["new"] = batch["x"]  # it would still be there in another batch
            assert got == [(100 * epoch + i, n) for i, n in enumerate(SIZES)]
            assert feed.epoch == epoch + 1
        assert list(feed) == [] and feed.ended and list(feed) == []


def test_resume(feed_of: Callable[..., FakeFeed]) -> None:
    server = feed_of(two_epochs)
    everything = [(100 * e + i, n) for e in range(2) for i, n in enumerate(SIZES)]
    for stop in range(1, len(everything)):
        got = []
        with tdict.Feed(server.path, rank=0) as feed:
            while len(got) < stop:
                for batch in feed:
                    got.append(seen(batch))
                    if len(got) == stop:
                        state = json.loads(json.dumps(feed.state))
                        break
        with tdict.Feed(server.path, state=state) as feed:
            while not feed.ended:
                got += [seen(batch) for batch in feed]
        assert got == everything


def test_a_loop_that_is_left_goes_on(feed_of: Callable[..., FakeFeed]) -> None:
    server = feed_of(two_epochs)
    with tdict.Feed(server.path) as feed:
        first = iter(feed)
        got = [seen(next(first))]
        for batch in feed:
            got.append(seen(batch))
        with pytest.raises(StopIteration):
            next(first)
        assert got == list(enumerate(SIZES))


@pytest.mark.parametrize("slots", [1, 2, 3, 16])
def test_slots_come_back_once(slots: int, feed_of: Callable[..., FakeFeed]) -> None:
    def serve(peer: Peer) -> None:
        peer.epoch(0, [4] * 500)  # it refuses a slot that is given back twice
        peer.send(END)
        assert len(peer.given_back) >= 500 - slots

    with tdict.Feed(feed_of(serve, slots=slots).path) as feed:
        assert [seen(b)[0] for b in feed] == list(range(500))


def test_a_feed_that_dies(feed_of: Callable[..., FakeFeed]) -> None:
    died = []

    def serve(peer: Peer) -> None:
        peer.batch(1, 4, 0, 1)
        peer.slot(), peer.slot()  # the first is given back when the next batch is asked for
        peer.slot()
        died.append(time.monotonic())

    feed = tdict.Feed(feed_of(serve).path)
    with pytest.raises(tdict.FeedError, match="gone"):
        for batch in feed:
            assert seen(batch) == (1, 4)
    assert time.monotonic() - died[0] < 0.1
    with pytest.raises(tdict.FeedError):
        next(iter(feed))


def test_errors_have_the_text(feed_of: Callable[..., FakeFeed]) -> None:
    text = "rank 3 is taken: ü".encode()

    def refuse(peer: Peer) -> None:
        peer.send(ERROR, len(text), after=text)

    with pytest.raises(tdict.FeedError, match="rank 3 is taken: ü"):
        tdict.Feed(feed_of(refuse, greet=False).path, rank=3)


def test_state_of_a_changed_dataset(feed_of: Callable[..., FakeFeed]) -> None:
    state = json.dumps({"seed": 6, "epoch": 1, "batch": 0, "long": "x" * 60_000}).encode()

    def serve(peer: Peer) -> None:
        peer.epoch(0, [4])
        peer.send(STATE, len(state), after=state)
        peer.epoch(1, [4, 3])
        peer.send(END)

    with tdict.Feed(feed_of(serve).path) as feed:
        assert [seen(b) for b in feed] == [(0, 4)]
        for batch in feed:
            assert feed.state["seed"] == 6 and feed.state["epoch"] == 1
        assert seen(batch) == (101, 3)


WRONG = {
    "a slot that is not there": struct.pack("<IIQQ", 3, 4, 0, 1),
    "more rows than a slot has": struct.pack("<IIQQ", 0, 5, 0, 1),
    "an unknown message": struct.pack("<IIQQ", 0xFFFFFFF7, 0, 0, 0),
    "a text that is too long": struct.pack("<IIQQ", ERROR, (1 << 16) + 1, 0, 0),
    "a state that is no JSON": struct.pack("<IIQQ", STATE, 2, 0, 0) + b"{x",
    "a state without an epoch": struct.pack("<IIQQ", STATE, 2, 0, 0) + b"{}",
    "a state beyond all numbers": struct.pack("<IIQQ", STATE, 25, 0, 0) + b'{"epoch":1e999,"batch":0}',
    "a state of another epoch": struct.pack("<IIQQ", STATE, 21, 0, 0) + b'{"epoch":7,"batch":0}',
    "a batch of another epoch": struct.pack("<IIQQ", 0, 4, 1, 1),
    "a batch again": struct.pack("<IIQQ", 0, 4, 0, 1) + struct.pack("<IIQQ", 1, 4, 0, 1),
    "the end of another epoch": struct.pack("<IIQQ", EPOCH, 0, 7, 0),
    "half a message": b"\0" * 23,
    "half a text": struct.pack("<IIQQ", ERROR, 20, 0, 0) + b"abc",
    "nothing": b"",
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_messages(name: str, feed_of: Callable[..., FakeFeed]) -> None:
    feed = tdict.Feed(feed_of(lambda peer: peer.socket.sendall(WRONG[name])).path)
    with pytest.raises(tdict.FeedError):
        list(feed)


@pytest.mark.parametrize(
    "hello",
    [{"version": 2}, {"rank": -1}, {"rows": "4"}, {"rows": 5}, {"slots": []}, {"slots": 7}, {"state": None},
     {"state": {}}, {"schema": {}}, {"world": 1 << 40}, {"epochs": True},
     {"state": {"epoch": -1, "batch": 0}}, {"state": {"epoch": 1e999, "batch": 0}}],
)  # fmt: skip
def test_wrong_hello(hello: dict[str, Any], feed_of: Callable[..., FakeFeed]) -> None:
    server = feed_of(lambda peer: None)
    server.hello.update(hello)
    with pytest.raises(tdict.FeedError):
        tdict.Feed(server.path)


def test_random_bytes(feed_of: Callable[..., FakeFeed]) -> None:
    """Any bytes after hello, or in its place, end in a FeedError, or in the end of an epoch."""
    rng, now = random.Random(1), [b""]
    server = feed_of(lambda peer: peer.socket.sendall(now[0]), greet=False)
    hello = json.dumps(server.hello).encode() + b"\n"
    for round in range(300):
        junk = bytes(rng.choice([0, 0, 1, 3, 4, 252, 253, 254, 255, 255]) for _ in range(rng.randrange(200)))
        now[0] = junk if round % 2 else hello + junk
        if round % 5 == 0:
            now[0] = hello[: rng.randrange(len(hello))] + junk
        try:
            with tdict.Feed(server.path) as feed:
                [feed.state for _ in feed]
        except tdict.FeedError:
            pass


def test_slots_that_are_no_datasets(feed_of: Callable[..., FakeFeed], tmp_path: Path) -> None:
    server = feed_of(lambda peer: None)
    server.hello["slots"] = [str(tmp_path / "odd")]
    (tmp_path / "odd").mkdir()
    with pytest.raises(tdict.DatasetError, match="odd"):
        tdict.Feed(server.path)


def test_dataloader(feed_of: Callable[..., FakeFeed]) -> None:
    server = feed_of(two_epochs)
    with tdict.Feed(server.path) as feed:
        loader = DataLoader(feed, batch_size=None, collate_fn=lambda batch: batch)
        assert [seen(b) for b in loader] == list(enumerate(SIZES))
        with pytest.raises(TypeError, match="num_workers=0"):
            pickle.dumps(feed)
        workers = DataLoader(feed, batch_size=None, num_workers=1, collate_fn=lambda batch: batch)
        with pytest.raises(RuntimeError, match="num_workers=0"):
            next(iter(workers))
        assert [seen(b)[0] for b in loader] == [100 + i for i in range(5)]


def test_owner(feed_of: Callable[..., FakeFeed], monkeypatch: pytest.MonkeyPatch) -> None:
    server = feed_of(two_epochs)
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    if os.stat(server.path).st_uid != 0:
        with pytest.raises(tdict.FeedError, match="4242"):
            tdict.Feed(server.path)
    else:
        os.chown(server.path, 4711, -1)
        with pytest.raises(tdict.FeedError, match="4711"):
            tdict.Feed(server.path)
        os.chown(server.path, 0, -1)


def test_nobody_listens(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tdict.Feed(tmp_path / "feed.sock")


def test_closed_says_so(tmp_path: Path) -> None:
    """A feed that was closed, or has failed, says why again; a state is a dict, not its text."""
    with pytest.raises(TypeError, match="want a dict"):
        tdict.Feed("nowhere", state="{}")  # type: ignore[arg-type]

    def serve(peer: Peer) -> None:
        server.greet(peer)
        peer.epoch(0, [4] * 3)

    server = FakeFeed(tmp_path, serve)
    feed = tdict.Feed(server.path)
    feed.close()
    for _ in range(2):
        with pytest.raises(tdict.FeedError, match="this feed was closed"):
            next(iter(feed))
    server.close()
