package engine

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

var (
	// ErrClosed says that a cache, or something that it gave out, was used after its Close.
	ErrClosed = mapping.ErrClosed
	// ErrConfig says that a cache cannot be kept as a [Config] says.
	ErrConfig = errors.New("invalid config")
	// ErrEngine says that there is no engine.
	ErrEngine = errors.New("not an engine")
	// ErrSchema says that a sample is not like the others of the cache.
	ErrSchema = errors.New("sample differs from the schema")
	// ErrProducerBusy says that another is the producer of that name.
	ErrProducerBusy = errors.New("producer is in use")
	// ErrProducer says that a producer cannot have a name, or that there are too many.
	ErrProducer = errors.New("invalid producer")
	// ErrCommitted says that the sample of a number is committed already.
	ErrCommitted = errors.New("committed already")
	// ErrReserved says that a number is reserved by a slot that is neither committed nor aborted.
	ErrReserved = errors.New("reserved already")
	// ErrGroup says that a group cannot be entered with that name or number of ranks.
	ErrGroup = errors.New("invalid group")
	// ErrEmpty says that no generation was published yet.
	ErrEmpty = errors.New("no generation was published yet")
	// ErrGenerationGone says that a generation is not kept any more.
	ErrGenerationGone = errors.New("generation is gone")
	// ErrChecksum says that a sample is not what was committed.
	ErrChecksum = errors.New("checksum differs")
	// ErrCorrupt says that the place of a cache does not hold what its format demands.
	ErrCorrupt = errors.New("corrupt")
	// ErrOtherHost says that the place belongs to another machine, or may be shared with others.
	ErrOtherHost = errors.New("belongs to another machine")
	// ErrBlocked says that something cannot be done yet. Engines return it. Methods of
	// samplecache.Cache wait instead: there it is wrapped, with the reason, by the error of a
	// context that ended.
	ErrBlocked = errors.New("blocked")
	// ErrUnavailable says that the servers of an engine do not answer.
	ErrUnavailable = errors.New("engine is not available")
)

// A RowError says which sample of a generation is at fault.
type RowError struct {
	Generation uint64
	Row        int
	Key        string // of the leaf; "" if it is not about one
	Err        error
}

// Error returns the text: generation, row, key and reason.
func (e *RowError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("generation %d: row %d: %v", e.Generation, e.Row, e.Err)
	}
	return fmt.Sprintf("generation %d: row %d: %q: %v", e.Generation, e.Row, e.Key, e.Err)
}

// Unwrap returns the reason.
func (e *RowError) Unwrap() error { return e.Err }

// A BlockedError is an [ErrBlocked] that looks for its reason only when it is printed.
type BlockedError struct {
	// Why returns the reason.
	Why func() string
}

// Error returns the text.
func (e *BlockedError) Error() string { return "blocked: " + e.Why() }

// Unwrap returns [ErrBlocked].
func (e *BlockedError) Unwrap() error { return ErrBlocked }

// Waiting returns a [BlockedError] with a fixed reason.
func Waiting(what string) error {
	return &BlockedError{func() string { return "waiting for " + what }}
}
