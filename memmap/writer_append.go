package memmap

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// keyError returns err as an error about a key.
func (w *Writer) keyError(key nestedkey.Key, err error) error {
	if e, ok := errors.AsType[*tdict.KeyError](err); ok {
		if e.Op == "append" {
			return err
		}
		err = e.Err
	}
	return &tdict.KeyError{Op: "append", Key: key, Err: err}
}

// Append appends td. If td has the row's batch shape [R...], it is one row. If td has the batch
// shape [n R...], it is n rows. It must have the keys of a row and, for each leaf, the same dtype
// and shape. td is not kept. The rows are visible to readers, and survive the end of the process,
// only after [Writer.Commit]. If td has 4 MiB or more, several leaves are written at a time.
//
// Append returns, with nothing appended,
//
//   - tdict.ErrMissing, shapeops.ErrShape, tensor.ErrDType or tdict.ErrKind if td is not like the
//     row
//   - tdict.ErrDiffers, with both values, if data or an unbatched tensor differs from the one
//     in the row
//
// After a write error, such as a full disk, or an error reading td's mapped memory, w can only be
// closed. The committed rows are kept.
func (w *Writer) Append(td *tdict.TensorDict) error {
	if err := w.check(); err != nil {
		return err
	}
	n, err := w.like(td)
	if err != nil {
		return w.fail("", err)
	}
	if n == single {
		n = 1
	}
	if !w.private { // SaveRows has done it
		w.compared.add(td)
	}
	if at, err := w.write(td); err != nil {
		w.broken = err
		return w.fail(at, err)
	}
	w.rows += n
	w.broken = w.countRows(td)
	return w.fail("", w.broken)
}

// manyBytes is the size of a dictionary from which on its leaves are written at the same time: one
// core copies bytes to the page cache more slowly than several do.
const manyBytes = 4 << 20

// write writes the rows of td to the files of the leaves. After an error, at is the leaf's file.
func (w *Writer) write(td *tdict.TensorDict) (at string, err error) {
	atOnce := 1
	if td.ByteSize() >= manyBytes {
		atOnce = 0 // GOMAXPROCS
	}
	failed := make([]bool, len(w.leaves))
	err = workers.Do(context.Background(), len(w.leaves), atOnce, func(i int) error {
		err := w.leaves[i].append(td)
		failed[i] = err != nil
		return err
	})
	if i := slices.Index(failed, true); i >= 0 {
		at = w.leaves[i].at()
	}
	return at, err
}

// like returns the number of rows of td, or an error if they are not like row.
func (w *Writer) like(td *tdict.TensorDict) (n int, err error) {
	n, err = w.count(td)
	if err == nil {
		err = w.fits(w.row, td, n, "")
	}
	return n, err
}

// single is the count of a dictionary that is one row, without a dim of rows.
const single = -1

// count returns the number of rows of td, or single.
func (w *Writer) count(td *tdict.TensorDict) (int, error) {
	if td == nil {
		return 0, fmt.Errorf("%w: got a nil dictionary", tdict.ErrKind)
	}
	got, want := td.Shape(), w.row.Shape()
	if got.Equal(want) {
		return single, nil
	}
	if len(got) == len(want)+1 && got[1:].Equal(want) {
		return got[0], nil
	}
	return 0, fmt.Errorf("%w: got batch shape %v, want %v for one row, or one more dim before it for several", shapeops.ErrShape, got, want)
}

// fits returns an error unless td, whose key is under, is n rows like row.
func (w *Writer) fits(row, td *tdict.TensorDict, n int, under nestedkey.Key) error {
	for key := range td.Keys() {
		if !row.Has(key) {
			return w.keyError(prefixed(under, key), fmt.Errorf("%w: the row of NewWriter has no such key", tdict.ErrMissing))
		}
	}
	for key, want := range row.All() {
		got, err := td.Get(key)
		key = prefixed(under, key)
		if err == nil {
			err = w.fitsValue(want, got, n, key)
		}
		if err != nil {
			return w.keyError(key, err)
		}
	}
	return nil
}

// prefixed returns the key of an entry of the dictionary under, as seen from the outermost
// dictionary.
func prefixed(under, key nestedkey.Key) nestedkey.Key {
	if under == "" {
		return key
	}
	return nestedkey.Join(under, key)
}

// fitsValue returns an error unless got, under key, is n rows like want.
func (w *Writer) fitsValue(want, got tdict.Value, n int, key nestedkey.Key) error {
	shape := want.Shape()
	if n != single {
		shape = append(shapeops.Shape{n}, shape...)
	}
	switch want := want.(type) {
	case *tensor.Tensor:
		t, ok := got.(*tensor.Tensor)
		if !ok {
			return fmt.Errorf("%w: got a %T, want a tensor", tdict.ErrKind, got)
		}
		if t.DType() != want.DType() {
			return fmt.Errorf("%w: got %v, want %v", tensor.ErrDType, t.DType(), want.DType())
		}
		return t.Shape().CheckEqual(shape)
	case *ragged.Tensor:
		return fitsRows(want, got, shape)
	case *tdict.TensorDict:
		inner, ok := got.(*tdict.TensorDict)
		if !ok {
			return fmt.Errorf("%w: got a %T, want a dictionary", tdict.ErrKind, got)
		}
		if err := inner.Shape().CheckEqual(shape); err != nil {
			return err
		}
		return w.fits(want, inner, n, key)
	}
	return sameForAll(want, got, shape)
}

// useText is the advice in the error for data with a value for each row.
const useText = "data that differs between rows cannot be appended: store text as ragged uint8, and a time as int64"

// sameForAll returns an error unless got, data or an unbatched tensor of the given shape, equals
// want, which all rows share.
func sameForAll(want, got tdict.Value, shape shapeops.Shape) error {
	if err := got.Shape().CheckEqual(shape); err != nil {
		return err
	}
	switch want := want.(type) {
	case *tdict.Data:
		if d, ok := got.(*tdict.Data); ok {
			err := sameData(d, want)
			if _, same := d.Uniform(); err != nil && !same {
				err = fmt.Errorf("%w: %s", err, useText)
			}
			return err
		}
	case *tdict.Unbatched:
		if u, ok := got.(*tdict.Unbatched); ok {
			return sameBytes(u.Tensor(), want.Tensor())
		}
	}
	return fmt.Errorf("%w: got a %T, want a %T", tdict.ErrKind, got, want)
}
