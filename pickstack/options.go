package pickstack

import (
	"errors"
	"fmt"
	"math"
)

// ErrOptions says that an option has a value that it must not have.
var ErrOptions = errors.New("unusable options")

// A Reduction is what is made of the entries of a pool, channel by channel. The table in the package
// documentation says what becomes of empty pools and NaN.
type Reduction uint8

const (
	Max       Reduction = iota // the greatest
	Min                        // the least
	Mean                       // the sum, divided by the number of entries
	Sum                        // the sum, added up in the order of the entries
	LogSumExp                  // log of the sum of exp, which does not overflow
)

var reductions = [...]string{Max: "max", Min: "min", Mean: "mean", Sum: "sum", LogSumExp: "logsumexp"}

// String returns the name in lower case: "max".
func (r Reduction) String() string {
	if int(r) < len(reductions) {
		return reductions[r]
	}
	return fmt.Sprintf("Reduction(%d)", uint8(r))
}

// Ties says which of the entries of a pool that attain its maximum, or minimum, the gradient goes
// to. An entry that the pool lists twice is two.
type Ties uint8

const (
	TieEven  Ties = iota // an equal share to each, as in TensorFlow and torch
	TieFirst             // all to the first in the pool, as in EmbeddingBag and max along a dim of torch
	TieAll               // all to each, so that more comes out than went in, as in CNTK
)

var ties = [...]string{TieEven: "even", TieFirst: "first", TieAll: "all"}

// String returns the name in lower case: "even".
func (t Ties) String() string {
	if int(t) < len(ties) {
		return ties[t]
	}
	return fmt.Sprintf("Ties(%d)", uint8(t))
}

// PickOptions are the options of [NewPick].
type PickOptions struct {
	// Workers is how many goroutines a call may use; 0 means GOMAXPROCS, if there is enough to do.
	Workers int
}

// PoolOptions are the options of [NewPool].
type PoolOptions struct {
	// Reduction is what is made of a pool. The default is [Max].
	Reduction Reduction

	// MinValue, if not nil, is what an empty pool is, and the least that any other pool is: what is
	// less is raised to it. It is rounded to the dtype of the inputs, and must not be NaN.
	//
	//	pickstack.PoolOptions{MinValue: new(-1.0)} // after ELU, which is never below -1
	MinValue *float64

	// Ties says which entries the gradient of [Max] and [Min] goes to. The default is [TieEven].
	Ties Ties

	// Workers is how many goroutines a call may use; 0 means GOMAXPROCS, if there is enough to do.
	Workers int
}

// check returns ErrOptions unless the options can be used.
func (o PoolOptions) check() error {
	switch {
	case int(o.Reduction) >= len(reductions):
		return fmt.Errorf("%w: got %v, want Max, Min, Mean, Sum or LogSumExp", ErrOptions, o.Reduction)
	case int(o.Ties) >= len(ties):
		return fmt.Errorf("%w: got %v, want TieEven, TieFirst or TieAll", ErrOptions, o.Ties)
	case o.MinValue != nil && math.IsNaN(*o.MinValue):
		return fmt.Errorf("%w: got MinValue NaN, want a number", ErrOptions)
	}
	return nil
}
