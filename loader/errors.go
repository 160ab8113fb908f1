package loader

import (
	"errors"
	"fmt"
	"strings"
)

// Errors about sources, options, states and positions.
var (
	// ErrLen says that sources to be combined have different numbers of rows.
	ErrLen = errors.New("sources of unequal length")
	// ErrSource says that a source is nil, or returned rows that were not requested.
	ErrSource = errors.New("unusable source")
	// ErrOptions says that options contradict each other, or are missing.
	ErrOptions = errors.New("unusable options")
	// ErrState says that a state does not fit this loader: it is of another dataset, sampler or
	// version, or damaged.
	ErrState = errors.New("state of another run")
	// ErrReplaced says that a source was replaced in the middle of an epoch.
	ErrReplaced = errors.New("source was replaced in the middle of an epoch")
	// ErrSeek says that an epoch does not have the requested batch.
	ErrSeek = errors.New("no such batch")
	// ErrBusy says that a loop over the loader's batches is running.
	ErrBusy = errors.New("another loop over the batches of this loader is running")
)

// A BatchError says which batch failed.
type BatchError struct {
	Epoch uint64
	Batch int   // number in the epoch, counted over all ranks
	Rows  []int // row numbers in the source
	Err   error
}

// shownRows is the number of rows in the text of a [BatchError].
const shownRows = 4

// Error returns the epoch, batch, rows and reason.
func (e *BatchError) Error() string {
	return fmt.Sprintf("epoch %d, batch %d, %s: %v", e.Epoch, e.Batch, rowsText(e.Rows), e.Err)
}

// Unwrap returns e.Err.
func (e *BatchError) Unwrap() error { return e.Err }

// rowsText lists the first rows, and the number of the others.
func rowsText(rows []int) string {
	if len(rows) == 1 {
		return fmt.Sprintf("row %d", rows[0])
	}
	shown := fmt.Sprint(rows[:min(len(rows), shownRows)])
	text := "rows " + strings.ReplaceAll(strings.Trim(shown, "[]"), " ", ", ")
	if more := len(rows) - shownRows; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// errApart says that Slice cannot return these rows.
var errApart = fmt.Errorf("rows cannot be sliced: %w", errors.ErrUnsupported)

// isUnsupported reports whether err is errors.ErrUnsupported.
func isUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
