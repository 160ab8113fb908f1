from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from fake import END, FakeFeed, Peer

import tdict


def start(folder: Path, serve: Callable[[Peer], None], slots: int) -> FakeFeed:
    def served(peer: Peer) -> None:
        server.greet(peer)
        serve(peer)

    server = FakeFeed(folder, served, slots=slots, epochs=1)
    return server


@pytest.mark.parametrize("slots", [4, 8, 16])
def test_slots_of_loops_that_were_left(slots: int, tmp_path: Path) -> None:
    """All slots come back, however many loops are left early: the feed waits for them at the end."""
    held: list[list[int]] = []

    def serve(peer: Peer) -> None:
        peer.epoch(0, [4] * 40)
        peer.send(END)
        free: list[int] = []
        try:
            while len(free) < slots:
                free.append(peer.slot())
        finally:
            held.append(sorted({*range(slots)} - {*free}))

    server = start(tmp_path, serve, slots)
    with tdict.Feed(server.path) as feed:
        while not feed.ended:
            for i, _ in enumerate(feed):
                if i == 2:
                    break
    while not held:
        time.sleep(0.001)
    server.close()
    assert held == [[]]


def test_an_old_loop_gives_no_slot_of_a_new_one_back(tmp_path: Path) -> None:
    """A loop that another one has followed ends, also if both had the same slot."""

    def serve(peer: Peer) -> None:
        peer.epoch(0, [4] * 10)
        peer.send(END)

    server = start(tmp_path, serve, 1)
    with tdict.Feed(server.path) as feed:
        first = iter(feed)
        next(first)
        second = iter(feed)
        assert len(next(second)) == 4 and feed.state["batch"] == 2
        assert next(first, None) is None
        assert feed.state["batch"] == 2
    server.close()
