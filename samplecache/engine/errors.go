package engine

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapping"
)

var (
	// ErrClosed says that a cache, or something that it gave out, was used after its Close.
	ErrClosed = mapping.ErrClosed
	// ErrConfig says that a [Config] or the options of a cache are invalid.
	ErrConfig = errors.New("invalid config")
	// ErrEngine says that there is no engine.
	ErrEngine = errors.New("not an engine")
	// ErrSchema says that a sample does not have the keys, dtypes and shapes of the schema.
	ErrSchema = errors.New("sample differs from the schema")
	// ErrProducerBusy says that another producer has the name.
	ErrProducerBusy = errors.New("producer is in use")
	// ErrProducer says that a producer's name is invalid or unknown, or that there are too many
	// names.
	ErrProducer = errors.New("invalid producer")
	// ErrCommitted says that a number was committed before.
	ErrCommitted = errors.New("committed already")
	// ErrReserved says that a number is reserved by a slot that is neither committed nor aborted.
	ErrReserved = errors.New("reserved already")
	// ErrGroup says that a group cannot be entered with this name or number of ranks.
	ErrGroup = errors.New("invalid group")
	// ErrEmpty says that no generation was published yet.
	ErrEmpty = errors.New("no generation was published yet")
	// ErrGenerationGone says that a generation is not kept any more.
	ErrGenerationGone = errors.New("generation is gone")
	// ErrChecksum says that the bytes of a sample differ from the bytes that were committed.
	ErrChecksum = errors.New("checksum differs")
	// ErrCorrupt says that the stored cache violates its format. It is the ErrCorrupt of package
	// memmap and of the other packages of files.
	ErrCorrupt = fileformat.ErrCorrupt
	// ErrOtherHost says that the cache belongs to another machine, or may be shared with other
	// machines.
	ErrOtherHost = errors.New("belongs to another machine")
	// ErrBlocked says that an operation is not possible yet. Engines return it. Methods of
	// samplecache.Cache wait instead; if their context ends, their error wraps ErrBlocked, with the
	// reason.
	ErrBlocked = errors.New("blocked")
	// ErrInUse says that a cache cannot be removed, because somebody uses it.
	ErrInUse = errors.New("in use")
	// ErrUnavailable says that the servers of an engine do not answer.
	ErrUnavailable = errors.New("engine is not available")
)

// A RowError says which sample of a generation an error is about.
type RowError struct {
	Generation uint64
	Row        int
	Key        string // of the leaf; "" if the error is not about a leaf
	Err        error
}

// Error returns the generation, row, key and reason.
func (e *RowError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("generation %d: row %d: %v", e.Generation, e.Row, e.Err)
	}
	return fmt.Sprintf("generation %d: row %d: %q: %v", e.Generation, e.Row, e.Key, e.Err)
}

// Unwrap returns the reason.
func (e *RowError) Unwrap() error { return e.Err }

// A BlockedError is an [ErrBlocked] that computes its reason only when it is printed.
type BlockedError struct {
	// Why returns the reason.
	Why func() string
}

// Error returns the text.
func (e *BlockedError) Error() string { return "blocked: " + e.Why() }

// Unwrap returns [ErrBlocked].
func (e *BlockedError) Unwrap() error { return ErrBlocked }

// Waiting returns a [BlockedError] with the reason "waiting for " + what.
func Waiting(what string) error {
	return &BlockedError{func() string { return "waiting for " + what }}
}
