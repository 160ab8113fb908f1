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

// ToRows returns copies of the rows of td, whose batch shape is [N]. Entries without a field in T
// are ignored, and fields of optional entries that td lacks are zero. Strings and slices of
// neighbouring rows are separate parts of shared memory. An empty slice is nil.
//
// ToRows returns
//
//   - [ErrType] if T does not map to rows,
//   - tdict.ErrSchema in a *tdict.KeyError, with the field, what was got and what was wanted, for
//     an entry that is missing or differs from T in kind, dtype or shape,
//   - shapeops.ErrDim unless the batch shape has one dim,
//   - shapeops.ErrShape for more rows than any memory holds, as a broadcast column can have,
//   - tensor.ErrDType for a bool that is neither 0 nor 1,
//   - tdict.ErrKind if td is nil,
//   - the errors of encoding/json for Data that does not fit the field,
//   - an error if memory cannot be read, as after Close of a dataset.
func ToRows[T any](td *tdict.TensorDict) ([]T, error) {
	r, err := open[T]("to rows", td)
	if err != nil {
		return nil, err
	}
	if _, err := tensor.NewMeta(tensor.Uint8, r.n, int(r.typ.Size())); err != nil {
		return nil, fmt.Errorf("to rows: %w", err) // more than any memory holds
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

// Rows returns an iterator over the rows of td, with the rules of [ToRows]. A row is valid until
// the next one, which may reuse its memory; a copy of it can be kept. Writing to a row does not
// change td. Rows are read in blocks of 4 KiB. Each block allocates strings, slices and pointers,
// but not numbers.
//
// An error comes last, with a nil row: either an error of ToRows instead of any row, or an error in
// the middle, as when a mapped file can no longer be read.
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

// Row sets *t to row i of td, whose batch shape is [N]. A negative i counts from the end. To read
// many rows, [Rows] is faster. Row returns the errors of [ToRows], and shapeops.ErrIndex if i is
// out of range; on an error *t has not changed.
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

// openRow is open for row i. It returns i counted from the start.
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
