package tdarrow

import (
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
	"github.com/go-tensordict/tensordict/interop/internal/table"
)

// Errors about a file.
var (
	// ErrCorrupt says that a file violates its format.
	ErrCorrupt = message.ErrCorrupt
	// ErrUnsupported says that a file has something that this package does not read: numbers with
	// the high byte first, Feather of version 1, another version of the format.
	ErrUnsupported = message.ErrUnsupported
	// ErrUsed says that the iterator of a Read was used before.
	ErrUsed = table.ErrUsed
	// ErrFault says that mapped memory could not be read, probably because another process
	// truncated the file.
	ErrFault = mapping.ErrFault
)

// A ColumnError says where in a file or a stream an error is. Its fields are:
//
//	Path   string // as given; "" for a reader or a writer
//	Part   string // "schema", "footer", "batch 3", "dictionary 7"; "" for the whole
//	Column string // as in "a.b"; "" if Err has a key, or is about the whole part
//	Err    error  // the cause, which Unwrap returns
type ColumnError = message.Error
