"""Reads a table with texts, lists, dates and missing values that Go made, selects rows, and saves
them in a form that both sides read.

    tdict convert reviews.jsonl reviews
    python text.py reviews good
"""

import sys

import tdict


def main(directory, out):
    td = tdict.open(directory)
    print("the first text:", td["text"][0].tolist())
    values, (offsets,) = td["tokens"].parts()
    print("tokens of row 1:", values[offsets[1] : offsets[2]].tolist())
    print("days:", [str(day) for day in tdict.tolist(td, "day")[:2]])
    good = td[tdict.mask(td, "stars") & (td["stars"] >= 4)]
    tdict.save(good, out, tdict.schema(td))
    print(len(good), "rows with 4 stars or more:", tdict.open(out)["text"].tolist())


main(*sys.argv[1:])
