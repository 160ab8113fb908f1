"""Runs the examples of README.md."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake import END, FakeFeed

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = [part.split("```")[0] for part in README.split("```python\n")[1:]]


def test_blocks() -> None:
    assert len(BLOCKS) == 3


def test_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tdict_command: Callable[..., str]) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [("Ada", [3, 5], "2024-01-02", 3.5), ("", [], "1999-12-31", None), ("Émilie", [7], "2000-01-01", 1)]
    lines = [
        json.dumps({"id": i, "name": name, "codes": codes, "day": day, "age": age})
        for i, (name, codes, day, age) in enumerate(rows)
    ]
    Path("visits.jsonl").write_text("\n".join(lines))
    tdict_command("convert", "visits.jsonl", "visits")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(BLOCKS[0], {})
    assert out.getvalue().splitlines() == [
        "['Ada', '', 'Émilie']", "[[3, 5], [], [7]]", "torch.Size([3, 2])",
        "[datetime.date(2024, 1, 2), datetime.date(1999, 12, 31), datetime.date(2000, 1, 1)]",
        "[3.5, None, 1.0]",
    ]  # fmt: skip
    tdict_command("verify", "good")
    assert '"2000-01-01"' in tdict_command("head", "good.tdz", "--as", "jsonl")


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[FakeFeed]:
    def serve(peer: object) -> None:
        fake.greet(peer)  # type: ignore[arg-type]
        for epoch in range(2):
            peer.epoch(epoch, [4, 4, 1])  # type: ignore[attr-defined]
        peer.send(END)  # type: ignore[attr-defined]

    fake = FakeFeed(tmp_path, serve)
    (tmp_path / "train.sock").symlink_to(fake.path)
    yield fake
    fake.close()


def test_batches(feed: FakeFeed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS[1], {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1 {'seed': 5, 'epoch': 1,") and len(lines) == 2


def test_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    class Out:
        buffer = io.BytesIO()

        def flush(self) -> None: ...

    monkeypatch.setenv("TDICT_NUMBER", "998")
    monkeypatch.setattr(sys, "stdout", Out())
    exec(BLOCKS[2], {})
    length = int.from_bytes(Out.buffer.getvalue()[:8], "little")
    assert len(Out.buffer.getvalue()) == 2 * (8 + length)
