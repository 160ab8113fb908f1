package datajson

import "github.com/go-tensordict/tensordict/internal/fileformat"

// ErrOldRagged is fileformat.ErrCorrupt for a ragged leaf in the form of versions before v0.1.
var ErrOldRagged = fileformat.Corrupt("a ragged leaf in the form of an earlier version of this module, which cannot be read any more: make the dataset again from its source")
