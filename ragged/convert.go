package ragged

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// FromOffsets returns values cut into rows of one level, in the form of Arrow's lists, TensorFlow's
// row_splits and torch's jagged tensors: row i has the values from offsets[i] up to, not including,
// offsets[i+1].
//
//	values [V F...], offsets of N+1 numbers -> [N * F...]
//
// The first offset may be more than 0, and the last less than V, as in a slice of an Arrow array;
// the result leaves out the values outside. It shares values. It keeps offsets too if they are
// int64 and begin with 0; then the caller must not change them. FromOffsets returns [ErrOffsets],
// with the row, if offsets is empty, if offsets decrease or if they are outside the values, and
// shapeops.ErrKind if values is nil.
func FromOffsets[I int32 | int64](values *tensor.Tensor, offsets []I) (*Tensor, error) {
	if values == nil || values.DType() == 0 {
		return nil, errNoValues
	}
	if len(offsets) == 0 || len(values.Shape()) == 0 {
		return nil, fmt.Errorf("%w: got %d offsets of values %v, want one at least, and a first dim", ErrOffsets, len(offsets), values.Shape())
	}
	first, last := int64(offsets[0]), int64(offsets[len(offsets)-1])
	if first < 0 || last < first || last > int64(values.Shape()[0]) {
		return nil, fmt.Errorf("%w: got %d to %d, want them within the %d values", ErrOffsets, first, last, values.Shape()[0])
	}
	part, err := values.Narrow(0, int(first), int(last-first))
	if err != nil {
		return nil, err
	}
	l, err := NewLayout(shapeops.Shape{len(offsets) - 1}, wide(offsets))
	if err != nil {
		return nil, err
	}
	return New(part, l)
}

// wide returns offsets as int64, shifted to begin with 0. It returns the same slice if nothing
// changes.
func wide[I int32 | int64](offsets []I) []int64 {
	if same, ok := any(offsets).([]int64); ok && same[0] == 0 {
		return same
	}
	out := make([]int64, len(offsets))
	for i, o := range offsets {
		out[i] = int64(o) - int64(offsets[0])
	}
	return out
}

// FromLengths returns values cut into rows with one level for each list of lengths. Each list has
// one number for each row of the level above, as in torchrec's jagged tensors:
//
//	values [V F...], lengths[0] of N numbers, lengths[k] of sum(lengths[k-1]) -> [N * * F...]
//
// It shares values and copies lengths. It returns the errors of [LayoutOf] and [New], and
// [ErrLengths] if lengths is empty or the last list does not add up to V.
func FromLengths(values *tensor.Tensor, lengths ...[]int64) (*Tensor, error) {
	if len(lengths) == 0 {
		return nil, fmt.Errorf("%w: got none, want one list for each level", ErrLengths)
	}
	l, err := LayoutOf(shapeops.Shape{len(lengths[0])}, lengths...)
	if err != nil {
		return nil, err
	}
	if values != nil && len(values.Shape()) > 0 && values.Shape()[0] != l.numbered() {
		return nil, fmt.Errorf("%w: they add up to %d, and there are %d values", ErrLengths, l.numbered(), values.Shape()[0])
	}
	return New(values, l)
}

// FromRowIDs returns values cut into n rows, where ids[i] is the row of value i, as in TensorFlow's
// value_rowids:
//
//	values [V F...], ids of V numbers that never decrease -> [n * F...]
//
// It shares values. It returns [ErrOffsets], with the value, if ids decrease or are not from 0 to
// n-1, and [ErrLengths] unless there is one id for each value.
func FromRowIDs(values *tensor.Tensor, ids []int64, n int) (*Tensor, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: got %d rows", shapeops.ErrShape, n)
	}
	if err := checkListed(n); err != nil {
		return nil, err
	}
	lengths, last := make([]int64, n), int64(0)
	for i, id := range ids {
		if id < last || id >= int64(n) {
			return nil, fmt.Errorf("value %d: %w: got row %d after %d, want them never to decrease, and below %d", i, ErrOffsets, id, last, n)
		}
		lengths[id]++
		last = id
	}
	return FromLengths(values, lengths)
}

// RowIDs returns, for each row of a level, the number of its row in the level above. [FromRowIDs]
// takes such numbers. RowIDs returns shapeops.ErrDim for a level that l does not have.
func (l *Layout) RowIDs(level int) ([]int64, error) {
	at, err := l.level(level)
	if err != nil {
		return nil, err
	}
	if l = l.at(at).Compact(); checkListed(l.numbered()) != nil {
		return nil, checkListed(l.numbered())
	}
	return l.rowIDs(), nil
}

// mostListed is the largest number of rows for which the package makes a list with one entry a row.
const mostListed = 1 << 36

// checkListed returns ErrShape if n rows are too many for a list with one entry a row.
func checkListed(n int) error {
	if n > mostListed {
		return fmt.Errorf("%w: got %d rows, want at most %d that have numbers", shapeops.ErrShape, n, mostListed)
	}
	return nil
}

// Offsets32 is [Layout.Offsets] as int32, for Arrow's lists. It copies. It returns [ErrOffsets] if
// the last offset does not fit.
func (l *Layout) Offsets32(level int) ([]int32, error) {
	offsets, err := l.Offsets(level)
	if err != nil {
		return nil, err
	}
	if last := offsets[len(offsets)-1]; last > math.MaxInt32 {
		return nil, fmt.Errorf("%w: got %d rows, which an int32 does not hold", ErrOffsets, last)
	}
	out := make([]int32, len(offsets))
	for i, o := range offsets {
		out[i] = int32(o)
	}
	return out, nil
}

// FromMasks reverses [Tensor.DensifyMasked]: it returns the values of a dense tensor where the
// masks, one for each level, are true.
//
//	x [B... L F...], mask [B... L] -> [B... * F...]
//	x [B... L M F...], masks [B... L] and [B... L M] -> [B... * * F...]
//
// Values may be anywhere in a row, for example at its end if padding is on the left; they keep
// their order. FromMasks copies. It returns tensor.ErrDType if a mask does not hold bools,
// shapeops.ErrShape if shapes do not fit, and [ErrLengths], with the level, if a mask is true in a
// row for which the mask before it is false.
func FromMasks(x *tensor.Tensor, masks ...*tensor.Tensor) (*Tensor, error) {
	if x == nil || len(masks) == 0 || masks[0] == nil || len(masks[0].Shape()) == 0 {
		return nil, fmt.Errorf("%w: got no tensor, or no mask with a dim", shapeops.ErrKind)
	}
	batch := masks[0].Shape()[:len(masks[0].Shape())-1]
	l, err := NewLayout(batch)
	if err != nil {
		return nil, err
	}
	present := slices.Repeat([]bool{true}, batch.Size())
	before, last := batch, (*tensor.Tensor)(nil)
	for level, mask := range masks {
		if last = mask; mask != nil && mask.Lender() != nil { // another process may write to a mapped file
			last, err = mask.Clone()
		}
		if err == nil {
			l, present, err = l.nestMask(last, before, present)
		}
		if err != nil {
			return nil, fmt.Errorf("mask of level %d: %w", level+1, err)
		}
		before = mask.Shape()
	}
	if !x.Shape().HasPrefix(last.Shape()) {
		return nil, fmt.Errorf("%w: got %v, want %v and the features", shapeops.ErrShape, x.Shape(), last.Shape())
	}
	values, err := x.MaskedSelect(last)
	if err != nil {
		return nil, err
	}
	return New(values, l)
}

// nestMask returns l with a further level that has a row for each true element of mask, and the
// elements of mask. The mask's shape is before and one more dim; present has an element for each
// position of before and is true where l has a row.
func (l *Layout) nestMask(mask *tensor.Tensor, before shapeops.Shape, present []bool) (*Layout, []bool, error) {
	if mask == nil {
		return nil, nil, fmt.Errorf("%w: got nil", shapeops.ErrKind)
	}
	if s := mask.Shape(); len(s) != len(before)+1 || !s.HasPrefix(before) {
		return nil, nil, fmt.Errorf("%w: got %v, want %v and one dim more", shapeops.ErrShape, s, before)
	}
	var bits []bool
	if err := tensor.Read(mask, func(s []bool) { bits = append(bits, s...) }); err != nil {
		return nil, nil, err
	}
	width, offsets := mask.Shape()[len(mask.Shape())-1], []int64{0}
	for i, there := range present {
		n := int64(0)
		for _, bit := range bits[i*width : (i+1)*width] {
			if bit {
				n++
			}
		}
		if there {
			offsets = append(offsets, offsets[len(offsets)-1]+n)
		} else if n > 0 {
			return nil, nil, fmt.Errorf("%w: got %d values in a row that is not there", ErrLengths, n)
		}
	}
	out, err := l.Nest(offsets)
	return out, bits, err
}
