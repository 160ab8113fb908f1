package sampler

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/splitmix"
)

// An Epoch is what a [Sampler] puts in an order.
type Epoch struct {
	Units     int    // rows, or groups of them; numbered from 0
	UnitBytes int    // how large one is on average; 0 if that is not known
	Seed      uint64 // of the run
	Number    uint64 // of the epoch, from 0
}

// key returns the number that all random choices of an epoch come from.
func (e Epoch) key() uint64 { return splitmix.Mix(splitmix.Mix(0, e.Seed), e.Number) }

// checkUnits returns ErrUnits if a sampler that was made for so many of something, as weights,
// cannot order an epoch.
func (e Epoch) checkUnits(n int, what string) error {
	if e.Units != n {
		return fmt.Errorf("%w: got %d rows or groups to order, want %d, as many as there are %s", ErrUnits, e.Units, n, what)
	}
	return nil
}

// A Sampler says which units make an epoch, and in which order. [Sequential], [Random], [Blocks],
// [Among], [Weighted], [Stratified], [Mixture], [Endless] and [Shard] make Samplers. Who implements
// one must make it safe for concurrent use.
type Sampler interface {
	// Order returns the order of an epoch, the same one for equal epochs. It returns an error if
	// the sampler was made for another number of units.
	Order(e Epoch) (Order, error)

	// String describes the sampler in a line. A run can be resumed by a sampler with the same
	// description only, so that says all that the order depends on, long lists as a sum.
	String() string
}

// An Order is the sequence of the units of an epoch. It does not change; safe for concurrent use.
type Order interface {
	// Len returns how many there are: NoEnd if they go on for ever.
	Len() int

	// AppendTo appends to dst what is at the positions from start on, before stop, which are from 0
	// to Len, and returns the extended slice. The number u + k*N, of N units, is unit u again.
	AppendTo(dst []int, start, stop int) []int
}
