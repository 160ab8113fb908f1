"""Reads two epochs of sys.argv[2], the socket of a feed, with the package tdict, whose folder is
sys.argv[1].

Says epoch, batch and rows of each batch, which it checks. Connects anew, with the state so far,
after each sys.argv[3] batches. Then it reads on, without saying what, until the feed ends.
"""
import json
import sys

sys.path.insert(0, sys.argv[1])

import tdict


def some(feed, most):
    """The state after the next batches of an epoch, at most most."""
    for got, batch in enumerate(feed, 1):
        assert (batch["x"] == batch["row"][:, None]).all(), "a torn batch"
        assert (batch["in", "label"] == 3 * batch["row"]).all(), "a torn batch"
        print(json.dumps([feed.epoch, feed.state["batch"], batch["row"].tolist()]), flush=True)
        if got == most:
            break
    return json.loads(json.dumps(feed.state))


state = None
while state is None or state["epoch"] < 2:
    with tdict.Feed(sys.argv[2], rank=0 if state else None, state=state) as feed:
        assert list(feed.schema) == ["in/label", "x", "row"] and feed.world == 1
        state = some(feed, int(sys.argv[3]))
try:
    with tdict.Feed(sys.argv[2]) as feed:
        while not feed.ended:
            for batch in feed:
                print("going", flush=True)
except tdict.FeedError as e:
    print("failed:", e, flush=True)
