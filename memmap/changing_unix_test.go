//go:build unix

package memmap_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// changing saves a mask, bool [rows width], opens it, and has a goroutine write other bytes to its
// file until the test ends: bools mostly, and sometimes bytes that are none.
func changing(t *testing.T, rows, width int) *tensor.Tensor {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "d")
	td := tensor.Must(tdict.FromMap(shapeops.Shape{rows}, tdict.Entries{"mask": tensor.Must(tensor.New(tensor.Bool, rows, width))}))
	require.NoError(t, memmap.Save(dir, td))
	ds := open(t, dir)
	mask := tensor.Must(ds.Tensor("mask"))
	require.NoError(t, ds.Advise(memmap.Normal), "mapped, not copied")

	f, err := os.OpenFile(filepath.Join(dir, "mask.memmap"), os.O_WRONLY, 0)
	require.NoError(t, err)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			b := make([]byte, rows*width)
			for j := range b {
				b[j] = byte(i / 2 & (j>>(i%8) | i>>4) & 1)
				if i%16 == 15 {
					b[j] *= byte(j)
				}
			}
			if _, err := f.WriteAt(b, 0); err != nil {
				t.Error(err)
				return
			}
		}
	})
	t.Cleanup(func() {
		close(stop)
		writer.Wait()
		require.NoError(t, f.Close())
	})
	return mask
}

// whole checks that numbers are some of those from 1 on, each once and in order.
func whole(s []int64) error {
	last := int64(0)
	for _, v := range s {
		if v <= last {
			return errors.New("a row that was not picked")
		}
		last = v
	}
	return nil
}

// picked checks that a tensor holds some of the rows of a numbered one.
func picked(x *tensor.Tensor, err error) error {
	if err != nil {
		return err
	}
	s, err := tensor.Of[int64](x)
	return errors.Join(err, whole(s))
}

// TestMaskThatChanges uses a mask in a mapped file while another writes to it: what comes of it is
// right for some mask, or an error.
func TestMaskThatChanges(t *testing.T) {
	const rows, width = 5000, 4
	mask := changing(t, rows, width)
	flat := tensor.Must(mask.Reshape(rows * width))
	first := tensor.Must(flat.Reshape(rows, width))
	x := numbered(tensor.Int64, 1, rows, width)
	line := tensor.Must(x.Reshape(rows * width))
	floats := tensor.Must(x.Cast(tensor.Float64))
	small := tensor.Must(line.Cast(tensor.Int8))
	wide := numbered(tensor.Int64, 1, rows*width, 3)
	td := tensor.Must(tdict.FromMap(shapeops.Shape{rows, width}, tdict.Entries{
		"a": x, "b": x, "c": tensor.Must(wide.Reshape(rows, width, 3)), "kind": tensor.Must(tdict.DataFrom(make([]any, rows*width), rows, width)),
	}))
	l := tensor.Must(ragged.LayoutOf([]int{rows}, slices.Repeat([]int64{width}, rows)))
	visits := tensor.Must(ragged.New(line, l))
	present := tensor.Must(ragged.New(flat, l))
	dst := tensor.Must(tensor.New(tensor.Int64, rows*width))
	over := func(dims ...int) arith.Over { return arith.Dims(dims...).Where(mask) }
	sound := func(_ any, err error) error { return err }
	tests := []struct {
		name string
		use  func() error
	}{
		{"as an index", func() error {
			at, err := mask.AsIndex()
			if err != nil {
				return err
			}
			return picked(x.Index(at))
		}},
		{"as an index to write to", func() error {
			at, err := mask.AsIndex()
			if err != nil {
				return err
			}
			return tensor.Must(dst.Reshape(rows, width)).SetIndex(tensor.Scalar(int64(1)), at)
		}},
		{"to select elements", func() error { return picked(x.MaskedSelect(mask)) }},
		{"to select bytes", func() error { return sound(small.MaskedSelect(flat)) }},
		{"to select rows", func() error {
			out, err := wide.MaskedSelect(flat)
			if err != nil {
				return err
			}
			return picked(out.Reshape(out.Size()))
		}},
		{"to select into", func() error {
			err := x.MaskedSelectInto(tensor.Must(dst.Narrow(0, 0, rows)), mask)
			if errors.Is(err, shapeops.ErrShape) {
				return nil // as many as are true are seldom so many
			}
			return err
		}},
		{"to select rows of a dictionary", func() error {
			out, err := td.MaskedSelect(mask)
			if err != nil {
				return err
			}
			if a, b := tensor.Must(out.Tensor("a")), tensor.Must(out.Tensor("b")); !a.Equal(b) {
				return errors.New("leaves with different rows")
			}
			return nil
		}},
		{"of a view", func() error {
			return picked(tensor.Must(x.Narrow(1, 0, 2)).MaskedSelect(tensor.Must(mask.Narrow(1, 0, 2))))
		}},
		{"where", func() error { return sound(arith.Where(mask, x, 0)) }},
		{"where, of a dictionary", func() error { return sound(arith.Where(mask, td, td)) }},
		{"masked fill", func() error { return sound(arith.MaskedFill(small, flat, 0)) }},
		{"sum of all", func() error { return sound(arith.Sum(x, over(0, 1))) }},
		{"sum of columns", func() error { return sound(arith.Sum(x, over(0))) }},
		{"sum of rows", func() error { return sound(arith.Sum(floats, over(1))) }},
		{"sum of features", func() error { return sound(arith.Sum(wide, arith.Dims(0).Where(flat))) }},
		{"standard deviation", func() error { return sound(arith.Std(floats, over(0), arith.VarOptions{})) }},
		{"median", func() error { return sound(arith.Quantile(floats, over(0), 0.5)) }},
		{"greatest", func() error { return sound(arith.ArgMax(floats, over(0))) }},
		{"greatest of all", func() error { return sound(arith.ArgMax(floats, over(0, 1))) }},
		{"count", func() error { return sound(arith.Count(x, over(0))) }},
		{"count of trues", func() error { return sound(arith.Sum(mask, arith.Whole)) }},
		{"running sums", func() error { return sound(arith.CumSum(x, over(0))) }},
		{"of a dictionary's means", func() error {
			return sound(arith.Mean(tensor.Must(tensor.Must(td.Select("a", "c")).Cast(tensor.Float64)), over(0)))
		}},
		{"sort", func() error { return sound(arith.Sort(mask, 0, arith.SortOptions{})) }},
		{"order of rows", func() error { return sound(arith.Lexsort(mask)) }},
		{"groups of rows", func() error { return sound(arith.GroupBy(mask, first)) }},
		{"groups of wide rows", func() error { return sound(arith.GroupBy(tensor.Must(mask.Reshape(10, rows*width/10)))) }},
		{"unique rows", func() error { return sound(arith.Unique(tensor.Must(mask.Reinterpret(tensor.Uint8)))) }},
		{"ragged rows", func() error {
			r, err := ragged.FromMasks(x, mask)
			if err != nil {
				return err
			}
			return picked(r.Values())
		}},
		{"to select of ragged rows", func() error {
			r, err := visits.MaskedSelect(present)
			if err != nil {
				return err
			}
			return picked(r.Values())
		}},
		{"fit", func() error {
			return sound(transform.FitStandard(tensor.Must(tensor.Must(td.Select("a")).Cast(tensor.Float64)), mask))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range kills(t, 60, 3000) {
				if err := tt.use(); err != nil {
					require.True(t, errors.Is(err, tensor.ErrDType) || errors.Is(err, arith.ErrEmpty), "%v", err)
				}
			}
		})
	}
}
