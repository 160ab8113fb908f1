package wire

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

// What can be wrong with a form, a dictionary or a stream.
var (
	// ErrCorrupt says that a form or a frame does not hold what it must.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrUnsupported says that a form holds something that this module does not read, or that a
	// dictionary has something for which the form has no place.
	ErrUnsupported = fileformat.ErrUnsupported
	// ErrName says that a key has no name in the form: a dictionary called "cls", "leaves",
	// "non_tensors", "cls_metadata" or "size", or a leaf whose name begins as a part of a jagged
	// tensor does.
	ErrName = fileformat.ErrName
	// ErrFrame says that a frame is longer than [DecoderOptions].MaxFrame.
	ErrFrame = errors.New("the frame is too long")
	// ErrClosed says that a dictionary that lay in the memory of a [Decoder] was used after the
	// next Decode.
	ErrClosed = mapping.ErrClosed
)

// An Error says what failed, and at which entry. Its fields are:
//
//	Op   string // "write", "read", "encode" or "decode"
//	Path string // ""
//	Name string // the key of the entry; "" for the whole
//	Err  error  // the reason
type Error = fileformat.Error

func failed(op string, err error) error { return fileformat.Failed(op, "", "", err) }
