package jsonl

import (
	"errors"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/tensor"
)

// Errors about a file.
var (
	// ErrSyntax says that a line is not a JSON object, or is nested too deep. It is tensor.ErrJSON.
	ErrSyntax = tensor.ErrJSON
	// ErrField says that an object has a field that is not in the schema, or a duplicate field.
	ErrField = errors.New("field does not fit the schema")
	// ErrTooLong says that a line is longer than ReadOptions.MaxRecord.
	ErrTooLong = table.ErrTooLong
	// ErrText says that a file is UTF-32, or UTF-16 without a byte order mark, or that it is
	// compressed and damaged or cut.
	ErrText = table.ErrText
	// ErrUsed says that the iterator of a Read was used before.
	ErrUsed = table.ErrUsed
	// ErrValue says that a value does not fit its entry, or that it cannot be written so that it
	// reads back equal.
	ErrValue = table.ErrValue
)

// A ParseError says where in a file an error is. Its fields are:
//
//	Line   int           // from 1
//	Column int           // 0
//	Key    nestedkey.Key // of the entry, or ""
//	Err    error         // the cause, which Unwrap returns
type ParseError = table.ParseError
