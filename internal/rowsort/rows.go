package rowsort

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Options say how [Rows] sorts. The zero Options sort ascending.
type Options struct {
	Descending bool
	// Beside is the path beside which temporary files are; "" means the temporary directory of the
	// system.
	Beside string
	// Memory is the number of bytes of keys in memory; 0 means 64 MiB.
	Memory int
	// Apart, if not 0, gives a row with a missing value a key that no other row has, nor any row
	// that was sorted with another Apart.
	Apart byte
	// Texts compares codes with Categories by the texts for which they stand, as the rows of two
	// dictionaries need it; otherwise codes compare as integers.
	Texts bool
}

// sorter returns a Sorter with the options.
func (opt Options) sorter() *Sorter {
	if opt.Beside == "" {
		opt.Beside = filepath.Join(os.TempDir(), "rows")
	}
	if opt.Memory <= 0 {
		opt.Memory = 64 << 20
	}
	return NewSorter(opt.Beside, opt.Memory)
}

// blockRows and blockBytes bound the rows whose keys are made at a time: blockBytes is about the
// size of their values.
const (
	blockRows  = 1 << 16
	blockBytes = 16 << 20
)

// Rows returns a Sorter with the rows of td, [n R...], by the values of the columns under keys. The
// caller closes it. Rows returns shapeops.ErrDim for a dictionary without rows, shapeops.ErrShape
// for several values in a row, tensor.ErrDType, tdict.ErrKind and tdict.ErrMissing, with the key,
// the errors of the disk, and the cause of ctx.
func Rows(ctx context.Context, td *tdict.TensorDict, says tdict.Schema, keys []nestedkey.Key, opt Options) (_ *Sorter, err error) {
	if len(td.Shape()) == 0 {
		return nil, fmt.Errorf("order: %w: got batch shape %v, want a dim of rows", shapeops.ErrDim, td.Shape())
	}
	for _, key := range keys {
		if _, err := td.Get(key); err != nil { // with the keys that there are
			return nil, &tdict.KeyError{Op: "order", Key: key, Err: err}
		}
	}
	s := opt.sorter()
	defer func() {
		if err != nil {
			_ = s.Close() // nothing needs the files
		}
	}()
	part, own := narrowed(td, says, keys)
	n := td.Shape()[0]
	most := max(1, min(blockRows, blockBytes/max(1, part.ByteSize()/max(1, n))))
	for from := 0; from == 0 || from < n; from += most {
		if ctx.Err() != nil {
			return s, context.Cause(ctx)
		}
		block, err := part.Narrow(0, from, min(most, n-from))
		if err != nil {
			return s, err
		}
		columns, err := columnsOf(block, own, keys, opt)
		if err != nil {
			return s, err
		}
		if err := s.addRows(columns, from, block.Shape()[0], opt.Apart); err != nil {
			return s, err
		}
	}
	return s, nil
}

// addRows adds n rows with the values of columns. The first has the number from.
func (s *Sorter) addRows(columns []column, from, n int, apart byte) error {
	var key []byte
	for i := range n {
		key = keyOf(key[:0], columns, i)
		if apart != 0 && slices.ContainsFunc(columns, func(c column) bool { return c.mask != nil && !c.mask[i] }) {
			key = binary.BigEndian.AppendUint64(append(key[:0], isMissing+1, apart), uint64(from+i))
		}
		if err := s.Add(key, int64(from+i)); err != nil {
			return err
		}
	}
	return nil
}

// keyOf appends the key of row i.
func keyOf(b []byte, columns []column, i int) []byte {
	for j := range columns {
		b = columns[j].append(b, i)
	}
	return b
}

// narrowed returns the columns under keys and their masks, and what the schema says of the columns.
func narrowed(td *tdict.TensorDict, says tdict.Schema, keys []nestedkey.Key) (*tdict.TensorDict, tdict.Schema) {
	needed := keys
	var own tdict.Schema
	for _, key := range keys {
		s, ok := says.Find(key)
		if ok {
			own = append(own, s)
		}
		if s.Mask != "" {
			needed = append(needed[:len(needed):len(needed)], s.Mask)
		}
	}
	return td.SelectPresent(needed...), own
}

// Alike returns tdict.ErrSchema, with the first key whose values in two dictionaries do not compare
// as their Keys do: texts with numbers, numbers of two kinds, or times in different units. Codes
// with Categories are texts. A key that a dictionary lacks is left to [Rows].
func Alike(a, b *tdict.TensorDict, saysA, saysB tdict.Schema, keys []nestedkey.Key) error {
	for _, key := range keys {
		want, got := valuesOf(a, saysA, key), valuesOf(b, saysB, key)
		if want == "" || got == "" || want == got {
			continue
		}
		return &tdict.KeyError{Op: "match", Key: key, Err: fmt.Errorf("%w: got %s, and %s in the other: they cannot be compared", tdict.ErrSchema, want, got)}
	}
	return nil
}

// valuesOf says what the values under a key are, or "" if the key cannot order rows.
func valuesOf(td *tdict.TensorDict, says tdict.Schema, key nestedkey.Key) string {
	v, err := td.Get(key)
	if err != nil {
		return ""
	}
	spec, _ := says.Find(key)
	t, dense := v.(*tensor.Tensor)
	switch {
	case !dense || spec.Categories != nil:
		return "text"
	case spec.Time != "":
		return "times that count " + spec.Unit
	case t.DType() == tensor.Bool:
		return "bools"
	case t.DType() == tensor.Uint64:
		return "uint64"
	case t.DType().IsInteger():
		return "integers"
	}
	return "floating-point numbers"
}
