package csv

import (
	"errors"

	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
)

// Errors about a file or a [Format].
var (
	// ErrSyntax says that a quote is in an unquoted field, or is not closed.
	ErrSyntax = errors.New("bad quote")
	// ErrFields says that a record has more or fewer fields than the first one.
	ErrFields = errors.New("wrong number of fields")
	// ErrHeader says that the columns of a file do not match the schema.
	ErrHeader = errors.New("columns do not fit the schema")
	// ErrTooLong says that a record is longer than ReadOptions.MaxRecord. Perhaps a quote is not
	// closed.
	ErrTooLong = table.ErrTooLong
	// ErrText says that a file is UTF-32, or UTF-16 without a byte order mark, or that it is
	// compressed and damaged or cut.
	ErrText = table.ErrText
	// ErrUsed says that the iterator of a Read was used before.
	ErrUsed = table.ErrUsed
	// ErrValue says that a field is not a value of its column, or that a value cannot be written
	// so that it reads back equal.
	ErrValue = table.ErrValue
	// ErrFormat says that a Format is not valid.
	ErrFormat = errors.New("invalid format")
)

// A ParseError says where in a file an error is. Its fields are:
//
//	Line   int           // of the beginning of the field or record, from 1
//	Column int           // of the first byte of the field in its line, from 1; 0 for a record
//	Key    nestedkey.Key // of the entry, or ""
//	Err    error         // the cause, which Unwrap returns
type ParseError = table.ParseError

// fail returns the error of the last field.
func (s *scanner) fail(key nestedkey.Key, err error) error {
	return &ParseError{Line: s.fieldLine, Column: s.fieldStart, Key: key, Err: err}
}
