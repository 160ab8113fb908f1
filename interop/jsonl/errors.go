package jsonl

import (
	"errors"

	"github.com/go-tensordict/tensordict/internal/table"
	"github.com/go-tensordict/tensordict/tensor"
)

// What can be wrong with a file.
var (
	// ErrSyntax says that a line is not a JSON object, or nested too deep. It is tensor.ErrJSON.
	ErrSyntax = tensor.ErrJSON
	// ErrField says that an object has a field that the schema lacks, or a field twice.
	ErrField = errors.New("field does not fit the schema")
	// ErrTooLong says that a line is longer than ReadOptions.MaxRecord.
	ErrTooLong = table.ErrTooLong
	// ErrUsed says that the rows of a Read were read already.
	ErrUsed = table.ErrUsed
	// ErrValue says that a value does not fit its entry, or that it cannot be written so that it
	// reads back equal.
	ErrValue = table.ErrValue
)

// A ParseError says where in a file an error is. Its fields are:
//
//	Line   int           // from 1 on
//	Column int           // 0
//	Key    nestedkey.Key // of the entry, or ""
//	Err    error         // the reason, which it unwraps to
type ParseError = table.ParseError
