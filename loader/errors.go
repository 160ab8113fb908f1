package loader

import (
	"errors"
	"fmt"
	"strings"
)

// What can be wrong with a source, with options or with a state.
var (
	// ErrLen says that sources that go together have different numbers of rows.
	ErrLen = errors.New("sources of unequal length")
	// ErrSource says that a source is nil, or has not returned what it was asked for.
	ErrSource = errors.New("unusable source")
	// ErrOptions says that options contradict each other, or are missing.
	ErrOptions = errors.New("unusable options")
	// ErrState says that a state is not one of this loader: of another dataset, sampler or version,
	// or damaged.
	ErrState = errors.New("state of another run")
	// ErrReplaced says that a source was replaced in the middle of an epoch.
	ErrReplaced = errors.New("source was replaced in the middle of an epoch")
	// ErrSeek says that an epoch has no such batch.
	ErrSeek = errors.New("no such batch")
	// ErrBusy says that a loader is used while a loop over its batches runs.
	ErrBusy = errors.New("another loop over the batches of this loader is running")
)

// A BatchError says which batch failed.
type BatchError struct {
	Epoch uint64
	Batch int   // its number in the epoch, of all ranks together
	Rows  []int // of the source
	Err   error
}

// shownRows is how many rows the text of a [BatchError] names.
const shownRows = 4

// Error returns the text: epoch, batch, rows, reason.
func (e *BatchError) Error() string {
	return fmt.Sprintf("epoch %d, batch %d, %s: %v", e.Epoch, e.Batch, rowsText(e.Rows), e.Err)
}

// Unwrap returns the reason.
func (e *BatchError) Unwrap() error { return e.Err }

// rowsText names the first rows, and says how many more there are.
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

// errApart says that rows of a source do not lie in one piece.
var errApart = fmt.Errorf("rows that do not lie together: %w", errors.ErrUnsupported)

// isUnsupported reports whether an error says that something is not done in this way.
func isUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
