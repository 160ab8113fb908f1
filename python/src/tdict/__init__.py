"""Datasets, batches and samples of the Go module tensordict."""

from ._errors import DatasetError, FeedError
from ._feed import Feed
from ._open import open
from ._ragged import Ragged, ragged, text
from ._sample import write_sample
from ._schema import Schema, Spec, mask, save, schema, tolist

__all__ = [
    "DatasetError",
    "Feed",
    "FeedError",
    "Ragged",
    "Schema",
    "Spec",
    "mask",
    "open",
    "ragged",
    "save",
    "schema",
    "text",
    "tolist",
    "write_sample",
]
