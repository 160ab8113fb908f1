from __future__ import annotations


class DatasetError(ValueError):
    """A dataset is damaged, or has a part that this package does not read. The text names the file."""


class FeedError(RuntimeError):
    """A feed has refused the request, has failed, or has ended."""
