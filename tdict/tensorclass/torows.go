package tensorclass

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// ToRows returns the rows of td, whose batch shape is [N], copied: N of them. Entries that T does
// not name are no matter, and fields for optional entries that td lacks are zero. Strings and
// slices of neighbouring rows share memory, in which each has its own part; an empty slice is nil.
//
// It returns [ErrType] if T does not map to rows; tdict.ErrSchema in a *tdict.KeyError, with the
// field, what was got and wanted, for an entry that is missing, or of another kind, dtype or shape;
// shapeops.ErrDim for another batch shape; shapeops.ErrShape for more rows than any memory holds,
// as a broadcast column can have; tensor.ErrDType for a bool that is neither 0 nor 1; tdict.ErrKind
// if td is nil; the errors of encoding/json for a value of Data that the field does not take; and
// an error if lent memory is gone, as after Close of a dataset.
func ToRows[T any](td *tdict.TensorDict) ([]T, error) {
	r, err := open[T]("to rows", td)
	if err != nil {
		return nil, err
	}
	if _, err := tensor.NewMeta(tensor.Uint8, r.n, int(r.typ.Size())); err != nil {
		return nil, fmt.Errorf("to rows: %w", err) // more than any memory
	}
	var rows []T
	if r.mixed {
		rows = make([]T, r.n)
	} else {
		rows = cast.UninitOf[T](r.n)
	}
	if err := r.read(0, reflect.ValueOf(rows)); err != nil {
		return nil, err
	}
	return rows, nil
}

// Rows returns an iterator over the rows of td, as [ToRows] has them. A row is valid until the next
// one, whose memory may be the same; a copy of it can be kept. Writing to it leaves td as it is.
// Rows are read in blocks of 4 KiB, in each of which strings, slices and pointers are allocated,
// and numbers are not.
//
// The error is not nil at most once, at the end, with a nil row: at once for what ToRows refuses,
// or in the middle, as when a mapped file cannot be read any more.
func Rows[T any](td *tdict.TensorDict) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		r, err := open[T]("rows", td)
		if err != nil {
			yield(nil, err)
			return
		}
		block := make([]T, min(r.blockRows(), r.n))
		rows := reflect.ValueOf(block)
		for lo := 0; lo < r.n; lo += len(block) {
			if n := r.n - lo; n < len(block) {
				block, rows = block[:n], rows.Slice(0, n)
			}
			if err := r.read(lo, rows); err != nil {
				yield(nil, err)
				return
			}
			for i := range block {
				if !yield(&block[i], nil) {
					return
				}
			}
		}
	}
}

// Row sets *t to row i of td, whose batch shape is [N]; a negative i counts from the end. Its
// errors are those of [ToRows], and shapeops.ErrIndex if there is no such row; on an error *t is as
// it was. Of many rows, [Rows] is faster.
func Row[T any](td *tdict.TensorDict, i int, t *T) error {
	r, i, err := openRow("row", td, i, t)
	if err != nil {
		return err
	}
	row := []T{*t}
	if err := r.read(i, reflect.ValueOf(row)); err != nil {
		return err
	}
	*t = row[0]
	return nil
}

// open returns a reader of td, or an error if td does not have the entries of T.
func open[T any](op string, td *tdict.TensorDict) (*reader, error) {
	p, err := planFor(reflect.TypeFor[T](), true)
	if err != nil {
		return nil, err
	}
	if td == nil {
		return nil, errNil
	}
	if s := td.Shape(); len(s) != 1 {
		return nil, fmt.Errorf("%s: %w: got batch shape %v, want one dim: Reshape it first", op, shapeops.ErrDim, s)
	}
	return p.open(op, td)
}

// openRow is open of one row, which it numbers from the start.
func openRow[T any](op string, td *tdict.TensorDict, i int, t *T) (*reader, int, error) {
	r, err := open[T](op, td)
	if err == nil && t == nil {
		err = fmt.Errorf("%s: %w: got a nil %T", op, tdict.ErrKind, t)
	}
	if err == nil {
		i, err = td.Shape().At(0, i)
	}
	return r, i, err
}
