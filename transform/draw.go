package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Draw determines the random numbers of a batch. The zero Draw is the first epoch of seed 0, for
// a batch of the first rows of the dataset.
//
// The numbers of a row come from PCG of math/rand/v2, seeded with h and mix(h, r), where r is the
// number of the row and
//
//	h = mix(mix(mix(mix(0, Seed), Epoch), p), r)
//	mix(h, x) = the output of SplitMix64 for the state h + x + 0x9e3779b97f4a7c15
//
// p is 0, or, in step i of a [Compose], mix(p, i), with the p of that Compose. This does not change
// between versions.
//
// Safe for concurrent use.
type Draw struct {
	Seed  uint64
	Epoch uint64
	// Rows are the numbers, in the dataset, of the rows of the batch, as given to ix.Take; nil
	// means 0, 1, 2 and so on.
	Rows []int

	path uint64 // position in the pipeline
}

// Step returns d for step i of several, which draw independently. [Compose] calls it; other
// transforms that apply several transforms must call it too.
func (d Draw) Step(i int) Draw {
	d.path = splitmix.Mix(d.path, uint64(i))
	return d
}

// Each calls fn for each row of td, in order, with its position in the batch and its random
// numbers. fn must not keep r:
//
//	td [N B...] -> fn(0, r) ... fn(N-1, r)
//
// Each allocates no more for many rows than for one. It returns shapeops.ErrDim if td has no batch
// dim, shapeops.ErrShape unless d.Rows is nil or has a number for each row, shapeops.ErrIndex if a
// number is negative, since -1 would draw other numbers than the row it denotes, and tdict.ErrKind
// if td is nil.
func (d Draw) Each(td *tdict.TensorDict, fn func(i int, r *rand.Rand)) error {
	n, err := d.count(td)
	if err != nil {
		return fmt.Errorf("draw: %w", err)
	}
	base := splitmix.Mix(splitmix.Mix(splitmix.Mix(0, d.Seed), d.Epoch), d.path)
	var source rand.PCG
	r := rand.New(&source)
	for i := range n {
		row := uint64(d.row(i))
		h := splitmix.Mix(base, row)
		source.Seed(h, splitmix.Mix(h, row))
		fn(i, r)
	}
	return nil
}

// count returns the number of rows of td.
func (d Draw) count(td *tdict.TensorDict) (int, error) {
	switch {
	case td == nil:
		return 0, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	case len(td.Shape()) == 0:
		return 0, fmt.Errorf("%w: got batch shape [], want at least one dim", shapeops.ErrDim)
	case d.Rows != nil && len(d.Rows) != td.Shape()[0]:
		return 0, fmt.Errorf("%w: got %d row numbers, want one for each of %d rows",
			shapeops.ErrShape, len(d.Rows), td.Shape()[0])
	}
	if i := slices.IndexFunc(d.Rows, func(row int) bool { return row < 0 }); i >= 0 {
		return 0, fmt.Errorf("%w: got row number %d, want at least 0", shapeops.ErrIndex, d.Rows[i])
	}
	return td.Shape()[0], nil
}

// row returns the number in the dataset of row i of the batch.
func (d Draw) row(i int) int {
	if d.Rows == nil {
		return i
	}
	return d.Rows[i]
}
