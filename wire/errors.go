package wire

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// The errors of this package.
var (
	// ErrCorrupt says that a form or a frame breaks the rules of the format.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a form has a value that this module does not read, or a dictionary
	// has one that the form cannot hold.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrName says that the form has no name for a key: a dictionary cannot be "cls", "leaves",
	// "non_tensors", "cls_metadata" or "size", and the name of a leaf cannot begin like a part of a
	// jagged tensor.
	ErrName = fileformat.ErrName
	// ErrFrame says that a frame is longer than [DecoderOptions].MaxFrame.
	ErrFrame = errors.New("the frame is too long")
	// ErrClosed says that a dictionary in the memory of a [Decoder] was used after the next Decode.
	ErrClosed = mapping.ErrClosed
)

// An Error is an error about an entry. Its fields are:
//
//	Op   string // "write", "read", "encode" or "decode"
//	Path string // ""
//	Name string // the key of the entry; "" for the whole form
//	Err  error  // the reason
type Error = fileformat.Error

func failed(op string, err error) error { return fileformat.Failed(op, "", "", err) }
