"""Reads a dataset again and again while another process replaces it: each dictionary is whole.

    python live.py digits [SECONDS]

It ends with an error if a dictionary has entries of two versions.
"""

import sys
import time

import tdict


def main(directory, seconds="2"):
    opened, versions, end = 0, set(), time.monotonic() + float(seconds)
    while time.monotonic() < end:
        td = tdict.open(directory)
        first = int(td["version"][0])
        if not bool((td["version"] == first).all()) or not bool((td["row"] // 1000 == first).all()):
            raise SystemExit(f"opened entries of two versions, one of them {first}")
        opened += 1
        versions.add(first)
    print(f"opened {opened} times, {len(versions)} versions, each whole")


main(*sys.argv[1:])
