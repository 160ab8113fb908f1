package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// A Draw says where the random numbers of a batch come from. The zero Draw is the first epoch of
// seed 0, and its batch the first rows of the dataset.
//
// The numbers of a row are those of math/rand/v2's PCG, seeded with h and mix(h, r), where r is the
// number of the row and
//
//	h = mix(mix(mix(mix(0, Seed), Epoch), p), r)
//	mix(h, x): of h + x + 0x9e3779b97f4a7c15, what SplitMix64 makes of its state
//
// p is 0, or mix(p, i) of the p of a [Compose] for its step i. This does not change.
//
// Safe for concurrent use.
type Draw struct {
	Seed  uint64
	Epoch uint64
	// Rows are the numbers in the dataset of the rows of the batch, as given to ix.Take; nil means
	// 0, 1, 2 and so on.
	Rows []int

	path uint64 // where in the pipeline
}

// Step returns d for one of several steps, which draw independently. [Compose] calls it; another
// transform of transforms must too.
func (d Draw) Step(i int) Draw {
	d.path = splitmix.Mix(d.path, uint64(i))
	return d
}

// Each calls fn for each row of td, in order, with its position in the batch and its random
// numbers, which are fn's until it returns:
//
//	td [N B...] -> fn(0, r) ... fn(N-1, r)
//
// Each allocates no more for many rows than for one. It returns shapeops.ErrDim if td has no batch
// dim, shapeops.ErrShape unless d.Rows is nil or has a number for each row, shapeops.ErrIndex if
// one is negative, as -1 would be another row than that of its place, and tdict.ErrKind if td is
// nil.
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
		return 0, fmt.Errorf("%w: got batch shape [], want rows", shapeops.ErrDim)
	case d.Rows != nil && len(d.Rows) != td.Shape()[0]:
		return 0, fmt.Errorf("%w: got %d row numbers, want one for each of %d rows",
			shapeops.ErrShape, len(d.Rows), td.Shape()[0])
	}
	if i := slices.IndexFunc(d.Rows, func(row int) bool { return row < 0 }); i >= 0 {
		return 0, fmt.Errorf("%w: got row number %d, want one counted from the beginning", shapeops.ErrIndex, d.Rows[i])
	}
	return td.Shape()[0], nil
}

// row returns the number in the dataset of a row of the batch.
func (d Draw) row(i int) int {
	if d.Rows == nil {
		return i
	}
	return d.Rows[i]
}
