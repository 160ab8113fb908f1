package sampler

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// An Epoch describes the epoch for which a [Sampler] returns an order.
type Epoch struct {
	Units     int    // number of units, which are rows or groups, numbered from 0
	UnitBytes int    // average size of a unit; 0 means unknown
	Seed      uint64 // seed of the run
	Number    uint64 // number of the epoch, from 0
}

// key returns the number from which all random choices of an epoch are derived.
func (e Epoch) key() uint64 { return splitmix.Mix(splitmix.Mix(0, e.Seed), e.Number) }

// checkUnits returns ErrUnits unless e has n units. what names the things, such as weights, of
// which there are n.
func (e Epoch) checkUnits(n int, what string) error {
	if e.Units != n {
		return fmt.Errorf("%w: got %d rows or groups to order, want %d, the number of %s", ErrUnits, e.Units, n, what)
	}
	return nil
}

// A Sampler determines which units make an epoch, and in which order. [Sequential], [Random],
// [Blocks], [Among], [Weighted], [Stratified], [Mixture], [Endless] and [Shard] return Samplers.
// Implementations must be safe for concurrent use.
type Sampler interface {
	// Order returns the order of an epoch. Equal epochs have equal orders. It returns an error if
	// the sampler was made for another number of units.
	Order(e Epoch) (Order, error)

	// String describes the sampler in one line. A run can be resumed only by a sampler with an
	// equal description, so it contains everything that the order depends on, long lists as a
	// checksum.
	String() string
}

// An Order is the sequence of the units of an epoch. It does not change; it is safe for concurrent
// use.
type Order interface {
	// Len returns the number of positions, or NoEnd.
	Len() int

	// AppendTo appends to dst the units at positions start up to, not including, stop, and returns
	// the extended slice. 0 <= start <= stop <= Len. With N units, the number u + k*N is the k-th
	// repetition of unit u.
	AppendTo(dst []int, start, stop int) []int
}
