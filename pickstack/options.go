package pickstack

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// A Reduction combines the entries of a pool, channel by channel. The table in the package
// documentation has the results for empty pools and NaN.
type Reduction uint8

const (
	Max       Reduction = iota // the greatest
	Min                        // the least
	Mean                       // the sum, divided by the number of entries
	Sum                        // the sum, in the order of the entries
	LogSumExp                  // log of the sum of exp, without overflow
)

var reductions = [...]string{Max: "max", Min: "min", Mean: "mean", Sum: "sum", LogSumExp: "logsumexp"}

// String returns the name in lower case: "max".
func (r Reduction) String() string {
	if int(r) < len(reductions) {
		return reductions[r]
	}
	return fmt.Sprintf("Reduction(%d)", uint8(r))
}

// Ties says which of the entries that attain the maximum or minimum of a pool get its gradient. An
// entry that the pool lists twice counts as two.
type Ties uint8

const (
	TieEven  Ties = iota // an equal share to each, as in tf.math.segment_max
	TieFirst             // all to the first in the pool, as in torch's max along a dim
	TieAll               // the whole gradient to each, as in CNTK: their sum exceeds it
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
	// Workers is how many goroutines a call uses at most. 0 or less means GOMAXPROCS, if there is
	// enough to do.
	Workers int
}

// PoolOptions are the options of [NewPool].
type PoolOptions struct {
	// Reduction combines the entries of a pool. The default is [Max].
	Reduction Reduction

	// MinValue, if not nil, is a lower bound: lesser results of pools are raised to it. It is also
	// the result for an empty pool, unless Empty is set. It is rounded to the dtype of the inputs,
	// where a finite number must stay finite, and must not be NaN.
	//
	//	pickstack.PoolOptions{MinValue: new(-1.0)} // after ELU, which is never below -1
	MinValue *float64

	// Empty, if not nil, is the result for an empty pool, rounded as MinValue is. It is not raised
	// to MinValue, and may be NaN.
	Empty *float64

	// Ties says which entries get the gradient of [Max] and [Min]; other reductions ignore it. The
	// default is [TieEven].
	Ties Ties

	// Workers is how many goroutines a call uses at most. 0 or less means GOMAXPROCS, if there is
	// enough to do.
	Workers int
}

// check returns ErrOptions if an option is invalid.
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

// own returns a copy of the options that shares no memory with the caller.
func (o PoolOptions) own() PoolOptions {
	if o.MinValue != nil {
		o.MinValue = new(*o.MinValue)
	}
	if o.Empty != nil {
		o.Empty = new(*o.Empty)
	}
	return o
}

// emptyResult returns the result for an empty pool.
func (o PoolOptions) emptyResult() float64 {
	switch {
	case o.Empty != nil:
		return *o.Empty
	case o.MinValue != nil:
		return *o.MinValue
	}
	return [...]float64{Max: math.Inf(-1), Min: math.Inf(1), Mean: math.NaN(), Sum: 0, LogSumExp: math.Inf(-1)}[o.Reduction]
}

// checkFinite returns ErrOptions if a finite number overflows a dtype.
func checkFinite(name string, v *float64, d tensor.DType) error {
	if v == nil || math.IsInf(*v, 0) || !math.IsInf(rounded(*v, d), 0) {
		return nil
	}
	return fmt.Errorf("%w: %s %g is not finite as %v", ErrOptions, name, *v, d)
}

// rounded returns v rounded to a dtype.
func rounded(v float64, d tensor.DType) float64 {
	switch d {
	case tensor.Float32:
		return float64(float32(v))
	case tensor.Float16:
		return tensor.F16Of(v).Float64()
	case tensor.BFloat16:
		return tensor.BF16Of(v).Float64()
	}
	return v
}
