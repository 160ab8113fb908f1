package pickstack

import (
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/tensor"
)

// A Reduction is what is made of the entries of a pool, channel by channel. The table in the
// package documentation says what becomes of empty pools and NaN.
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
	TieEven  Ties = iota // an equal share to each, as in tf.math.segment_max
	TieFirst             // all to the first in the pool, as in max along a dim of torch
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
	// Workers is how many goroutines a call uses at most. 0 or less means GOMAXPROCS, if there is
	// enough to do.
	Workers int
}

// PoolOptions are the options of [NewPool].
type PoolOptions struct {
	// Reduction is what is made of a pool. The default is [Max].
	Reduction Reduction

	// MinValue, if not nil, is the least that a pool is: what is less is raised to it. It is also
	// what an empty pool is, unless Empty says something else. It is rounded to the dtype of the
	// inputs, where a finite number must remain one, and must not be NaN.
	//
	//	pickstack.PoolOptions{MinValue: new(-1.0)} // after ELU, which is never below -1
	MinValue *float64

	// Empty, if not nil, is what an empty pool is, rounded like MinValue. It is not raised to that,
	// and may be NaN.
	Empty *float64

	// Ties says which entries the gradient of [Max] and [Min] goes to; the other reductions have no
	// use for it. The default is [TieEven].
	Ties Ties

	// Workers is how many goroutines a call uses at most. 0 or less means GOMAXPROCS, if there is
	// enough to do.
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

// own returns options that the caller does not share.
func (o PoolOptions) own() PoolOptions {
	if o.MinValue != nil {
		o.MinValue = new(*o.MinValue)
	}
	if o.Empty != nil {
		o.Empty = new(*o.Empty)
	}
	return o
}

// nothing returns what an empty pool is.
func (o PoolOptions) nothing() float64 {
	switch {
	case o.Empty != nil:
		return *o.Empty
	case o.MinValue != nil:
		return *o.MinValue
	}
	return [...]float64{Max: math.Inf(-1), Min: math.Inf(1), Mean: math.NaN(), Sum: 0, LogSumExp: math.Inf(-1)}[o.Reduction]
}

// checkFor returns ErrOptions unless a dtype holds MinValue and Empty, rounded.
func (o PoolOptions) checkFor(d tensor.DType) error {
	if err := checkFinite("MinValue", o.MinValue, d); err != nil {
		return err
	}
	return checkFinite("Empty", o.Empty, d)
}

// checkFinite returns ErrOptions if a finite number is infinite as an element of a dtype.
func checkFinite(name string, v *float64, d tensor.DType) error {
	if v == nil || math.IsInf(*v, 0) || !math.IsInf(rounded(*v, d), 0) {
		return nil
	}
	return fmt.Errorf("%w: %s %g is not finite as %v", ErrOptions, name, *v, d)
}

// rounded returns v as an element of a dtype.
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
