package transform

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// FitStandard returns the [Standard] of td: the mean and the standard deviation of each column of
// each floating-point leaf. To fit only some leaves, pass td.Select(keys...).
//
//	dense leaves [B... F...]      -> mean [F...], deviation [F...]
//	ragged leaves [B... * * F...] -> mean [F...], deviation [F...]
//
// NaN never counts. present says which other values count. It is one of
//
//   - nil: all values or, if td is a *memmap.Dataset, the values that its schema does not hide. A
//     part of a Dataset, such as Index returns, has no schema: pass Schema of the Dataset
//   - a tdict.Schema, whose MaskOf has the masks. A leaf without a mask counts whole
//   - a bool tensor over leading dims of each leaf; for a ragged leaf, over batch dims
//   - a bool ragged tensor with the lengths of each leaf, or of its outer levels: a mask of rows
//     [B... *], of values [B... * *], or of values and leading dims of their features
//   - a dictionary of such masks, each under the key of its leaf
//
// FitStandard reads td once, block by block: td may be larger than memory. It returns
//
//   - shapeops.ErrDim if td has no batch dim
//   - tdict.ErrKind if td is nil, if it has no floating-point column, if a tdict.Stacked leaf has
//     one, or if present, or a mask in it, is of another kind
//   - tdict.ErrMissing if a dictionary has no mask for a leaf
//   - shapeops.ErrShape, tensor.ErrDType and ragged.ErrLengths if a mask does not fit its leaf
//   - [ErrNumber] if a statistic is not finite, because an infinity counts
func FitStandard(td tdict.Dictionary, present any) (*Standard, error) {
	fits, err := newFits(tdict.Of(td), presentIn(td, present))
	if err != nil {
		return nil, errtext.Named("fit standard", err)
	}
	err = workers.Do(context.Background(), len(fits), 0, func(i int) error {
		return workers.Call(fits[i].run)
	})
	if err != nil {
		return nil, errtext.Named("fit standard", err)
	}
	s := &Standard{tdict.New(), tdict.New(), map[nestedkey.Key]int{}}
	for _, f := range fits {
		if err := s.add(f.key, f.mean, f.std, f.levels); err != nil {
			return nil, errtext.Named("fit standard", err)
		}
	}
	return s.locked(), nil
}

// A fit computes the statistics of a leaf.
type fit struct {
	key     nestedkey.Key
	leaf    tdict.Leaf
	mask    any            // a tensor, a ragged tensor, or nil
	batch   int            // number of batch dims of the dictionary
	columns shapeops.Shape // F...
	levels  int            // number of dims between the batch and the columns

	mean, std *tensor.Tensor
}

// newFits returns the fits of the floating-point leaves.
func newFits(td *tdict.TensorDict, present any) (fits []*fit, err error) {
	switch {
	case td == nil:
		return nil, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	case len(td.Shape()) == 0:
		return nil, fmt.Errorf("%w: got batch shape [], want at least one dim", shapeops.ErrDim)
	}
	lookup, err := masksOf(td, present)
	if err != nil {
		return nil, err
	}
	columns := 0
	for key, leaf := range td.Leaves() {
		if s, ok := leaf.(*tdict.Stacked); ok && hasFloats(s) {
			return nil, &tdict.KeyError{Key: key, Err: errStacked(s)}
		}
		f := newFit(leaf, len(td.Shape()))
		if f == nil {
			continue
		}
		f.key = key
		if f.mask, err = lookup(key); err != nil {
			return nil, &tdict.KeyError{Key: key, Err: fmt.Errorf("present: %w", err)}
		}
		columns += f.columns.Size()
		fits = append(fits, f)
	}
	if columns == 0 {
		return nil, noColumns(td)
	}
	return fits, nil
}

// hasFloats reports whether s has a floating-point member.
func hasFloats(s *tdict.Stacked) bool {
	for i := range s.Len() {
		v, err := s.Member(i)
		if err != nil { // there is none
			continue
		}
		inner, ok := v.(*tdict.Stacked)
		if ok && hasFloats(inner) || newFit(v, 0) != nil {
			return true
		}
	}
	return false
}

// newFit returns the fit of a leaf, or nil if it is not floating-point. batch is the number of
// batch dims.
func newFit(leaf tdict.Leaf, batch int) *fit {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		if x.DType().IsFloat() {
			return &fit{leaf: x, batch: batch, columns: x.Shape()[batch:]}
		}
	case *ragged.Tensor:
		if x.DType().IsFloat() {
			return &fit{leaf: x, batch: batch, columns: x.Features(), levels: len(x.Shape()) - batch + x.Depth()}
		}
	}
	return nil
}

// noColumns returns an error that lists the leaves of td.
func noColumns(td *tdict.TensorDict) error {
	const most = 8
	var texts []string
	more := -most
	for key, leaf := range td.Leaves() {
		if more++; more <= 0 {
			texts = append(texts, fmt.Sprintf("%q %s", string(key), textOfLeaf(leaf)))
		}
	}
	switch {
	case len(texts) == 0:
		texts = append(texts, "no leaf")
	case more > 0:
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: got %s, want a floating-point leaf with columns", tdict.ErrKind, strings.Join(texts, ", "))
}

// textOfLeaf returns the dtype and the shape of a leaf.
func textOfLeaf(leaf any) string {
	switch x := leaf.(type) {
	case *tensor.Tensor:
		return fmt.Sprintf("%v %v", x.DType(), x.Shape())
	case *ragged.Tensor:
		return x.Text()
	case *tdict.Stacked:
		return x.Text()
	}
	return fmt.Sprintf("%T", leaf)
}

// run sets the statistics.
func (f *fit) run() error {
	t := newTally(f.columns.Size())
	err := f.tally(t)
	if err == nil {
		f.mean, f.std, err = t.statistics(f.columns, func(factor float64) (*moments, error) {
			t := newTally(f.columns.Size())
			t.factor = factor
			err := f.tally(t)
			return t.done(), err
		})
	}
	if err != nil {
		return &tdict.KeyError{Key: f.key, Err: err}
	}
	return nil
}

// tally adds the rows of the leaf to t.
func (f *fit) tally(t *tally) error {
	if x, ok := f.leaf.(*ragged.Tensor); ok {
		mask, err := raggedMask(f.mask, x)
		if err != nil {
			return fmt.Errorf("present: %w", err)
		}
		return t.lists(x, mask)
	}
	x := f.leaf.(*tensor.Tensor)
	mask, err := denseMask(f.mask, x)
	if err != nil {
		return fmt.Errorf("present: %w", err)
	}
	return t.dense(x, mask, f.batch)
}
