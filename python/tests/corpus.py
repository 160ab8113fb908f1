"""The cases of memmap/testdata/broken: directories that are no sound dictionaries."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "memmap" / "testdata" / "broken"


def build(case: Path, to: Path) -> tuple[str, str]:
    """Makes the directory of a case. Returns the error that Go names, and how Open deviates."""
    sections = case.read_text("utf-8", newline="").removesuffix("\n").split("\n-- ")
    lines = sections[0].strip().split("\n")
    but = dict(line.partition(": ")[::2] for line in lines[3:])
    to.mkdir()
    for section in sections[1:]:
        head, _, body = section.partition(" --\n")
        head = head.removesuffix(" --")
        kind, _, name = head.partition(" ")
        if kind == "dir":
            (to / name).mkdir(parents=True, exist_ok=True)
        elif kind == "link":
            link, _, target = name.partition(" -> ")
            (to / link).symlink_to(target.replace("DIR", str(to)))
        elif kind == "pipe":
            subprocess.run(["mkfifo", to / name], check=True)
        elif kind == "nest":
            part, count, _ = name.split()
            meta, at = (to / "meta.json").read_bytes(), str(to)
            fd = os.open(at, os.O_RDONLY)
            for _ in range(int(count)):
                os.mkdir(part, dir_fd=fd)
                inner = os.open(part, os.O_RDONLY, dir_fd=fd)
                os.close(fd)
                fd = inner
                out = os.open("meta.json", os.O_WRONLY | os.O_CREAT, dir_fd=fd)
                os.write(out, meta)
                os.close(out)
            os.close(fd)
        else:
            name, _, how = head.partition(": ")
            _extend(to / name, how, body)
    return lines[1], but.get("open", "")


def _extend(at: Path, how: str, body: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    count, _, unit = how.partition(" ")
    with open(at, "ab") as f:
        if how == "":
            f.write(body.encode("utf-8", "surrogateescape"))
        elif how == "hex":
            f.write(bytes.fromhex(body))
        elif unit == "times":
            f.write(body.encode() * int(count))
        elif unit == "bytes":
            f.truncate(f.tell() + int(count))
        else:
            raise AssertionError(how)
