package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// sparse opens, for writing, a uint8 leaf [rows 64 1024] of a file that takes no room on the disk,
// and so that element 0 of the first rows is 1, 2, ...
func sparse(tb testing.TB, rows int) *tensor.Tensor {
	tb.Helper()
	if runtime.GOOS == "windows" {
		tb.Skip("needs files with holes")
	}
	dir := tb.TempDir()
	meta := fmt.Sprintf(`{"x":{"device":"cpu","shape":[%d,64,1024],"dtype":"torch.uint8","is_nested":false},`+
		`"shape":[%d],"device":"cpu","_type":"<class 'tensordict._td.TensorDict'>"}`, rows, rows)
	require.NoError(tb, os.WriteFile(filepath.Join(dir, "meta.json"), []byte(meta), 0o666))
	file := filepath.Join(dir, "x.memmap")
	require.NoError(tb, os.WriteFile(file, nil, 0o666))
	if err := os.Truncate(file, int64(rows)<<16); err != nil {
		tb.Skip("no file of that size: ", err)
	}
	ds := writable(tb, dir)
	x := tensor.Must(ds.Tensor("x"))
	for row := range 4 {
		require.NoError(tb, x.SetIndex(tensor.Scalar(uint8(row+1)), ix.At(row), ix.At(0), ix.At(0)))
	}
	return x
}

// sparseCopies are copies within a leaf of sparse that touch little of it, wherever that lies.
var sparseCopies = []struct {
	name string
	copy func(x *tensor.Tensor, rows int) error
	want [4]uint8 // element 0 of rows 0, 1 and of the last two
	err  error
}{
	{"rows to a list of far ones", func(x *tensor.Tensor, rows int) error {
		return x.SetIndex(within(x, ix.Range(1, 3)), ix.Take(0, rows-1))
	}, [4]uint8{2, 2, 0, 3}, nil},
	{"rows to a list with one that is read", func(x *tensor.Tensor, rows int) error {
		return x.SetIndex(within(x, ix.Range(1, 3)), ix.Take(rows-1, 1))
	}, [4]uint8{1, 3, 0, 2}, nil},
	{"rows to a list of others that are far", func(x *tensor.Tensor, rows int) error {
		return x.SetIndex(within(x, ix.Range(1, 3)), ix.Take(rows-2, rows-1))
	}, [4]uint8{1, 2, 2, 3}, nil},
	{"rows to a list around them", func(x *tensor.Tensor, rows int) error {
		return x.SetIndex(within(x, ix.Range(2, 4)), ix.Take(0, rows-1))
	}, [4]uint8{3, 2, 0, 4}, nil},
	{"a list of far rows", func(x *tensor.Tensor, rows int) error {
		return x.IndexInto(within(x, ix.Range(0, 2)), ix.Take(rows-1, 3))
	}, [4]uint8{0, 4, 0, 0}, nil},
	{"a range to a range", func(x *tensor.Tensor, rows int) error {
		return x.SetIndex(within(x, ix.Range(0, 2)), ix.Range(rows-2, rows))
	}, [4]uint8{1, 2, 1, 2}, nil},
	{"a range to one that overlaps", func(x *tensor.Tensor, _ int) error {
		return x.SetIndex(within(x, ix.Range(0, 3)), ix.Range(1, 4))
	}, [4]uint8{1, 1, 0, 0}, nil},
	{"a range to a list of rows that overlaps", func(x *tensor.Tensor, rows int) error {
		list := make([]int, 1<<11)
		for i := range list {
			list[i] = i + 1
		}
		return x.SetIndex(within(x, ix.Range(0, len(list))), ix.Take(list...))
	}, [4]uint8{}, tensor.ErrOverlap},
	{"a leaf onto itself, the other way round", func(x *tensor.Tensor, _ int) error {
		return shapeops.FlipInto(x, x, 0)
	}, [4]uint8{}, tensor.ErrOverlap},
	{"rows far from one another", func(x *tensor.Tensor, rows int) error {
		return within(x, ix.Range(0, rows).Step(rows/2)).CopyFrom(within(x, ix.Range(1, rows).Step(rows/2)))
	}, [4]uint8{2, 2, 0, 0}, nil},
	{"columns between columns of far rows", func(x *tensor.Tensor, rows int) error {
		far := ix.Range(0, rows).Step(rows - 1)
		return within(x, far, ix.All, ix.Range(0, ix.End).Step(2)).CopyFrom(within(x, far, ix.All, ix.Range(1, ix.End).Step(2)))
	}, [4]uint8{0, 2, 0, 0}, nil},
	{"columns of the first half of far rows from the others", func(x *tensor.Tensor, rows int) error {
		far := ix.Range(0, rows).Step(rows - 1)
		return within(x, far, ix.Range(0, 32)).CopyFrom(within(x, far, ix.Range(32, 64)))
	}, [4]uint8{0, 2, 0, 0}, nil},
	{"columns of far rows onto their neighbours", func(x *tensor.Tensor, rows int) error {
		far := ix.Range(0, rows).Step(rows - 1)
		return within(x, far, ix.Range(1, 64)).CopyFrom(within(x, far, ix.Range(0, 63)))
	}, [4]uint8{1, 2, 0, 0}, nil},
}

func within(x *tensor.Tensor, expr ...ix.Index) *tensor.Tensor { return tensor.Must(x.Index(expr...)) }

// Whether a copy reads what it writes is arithmetic: it takes no memory for each byte between the
// rows that are copied, and looks at none.
func TestCopiesWithinALargeFile(t *testing.T) {
	const rows = 1 << 20 // 64 GiB
	for _, tt := range sparseCopies {
		t.Run(tt.name, func(t *testing.T) {
			x := sparse(t, rows)
			testkit.MaxBytes(t, 1<<19, func() { require.ErrorIs(t, tt.copy(x, rows), tt.err) })
			if tt.err != nil {
				tt.want = [4]uint8{1, 2}
			}
			heads := within(x, ix.Take(0, 1, rows-2, rows-1), ix.At(0), ix.At(0))
			require.Equal(t, tt.want[:], testkit.Elements[uint8](t, heads))
		})
	}
}

func BenchmarkCopyWithinAFile(b *testing.B) {
	for _, rows := range []int{1 << 8, 1 << 20} {
		for _, c := range sparseCopies {
			if c.err != nil {
				continue
			}
			b.Run(fmt.Sprintf("bytes=%dMiB/copy=%s", rows>>4, strings.ReplaceAll(c.name, " ", "-")), func(b *testing.B) {
				x := sparse(b, rows)
				b.SetBytes(2 << 16)
				b.ReportAllocs()
				for b.Loop() {
					if err := c.copy(x, rows); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// stepLeaves is how many leaves a row has that is stacked.
const stepLeaves = 8

// stacking returns the rows of a dictionary of leaves float32 [rows 4], saved and opened, or in Go
// memory, and another such dictionary, opened for writing, to stack them in.
func stacking(tb testing.TB, rows int, mapped bool) (dst *tdict.TensorDict, src []*tdict.TensorDict) {
	tb.Helper()
	td, next := tdict.New(rows), tensor.Must(tensor.Arange[float32](0, float32(4*rows), 1))
	for i := range stepLeaves {
		x := tensor.Must(tensor.Must(next.Clone()).Reshape(rows, 4))
		require.NoError(tb, td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), x))
	}
	dir := filepath.Join(tb.TempDir(), "dst")
	require.NoError(tb, memmap.Save(dir, td))
	ds := writable(tb, dir)
	if mapped {
		dir := filepath.Join(tb.TempDir(), "src")
		require.NoError(tb, memmap.Save(dir, td))
		td = open(tb, dir).TensorDict
	}
	return ds.TensorDict, tensor.Must(shapeops.Unbind(td, 0))
}

// Stacking rows from files into others costs no more than from Go memory, and in proportion to the
// rows.
func TestStackFromFilesToFiles(t *testing.T) {
	stack := func(rows int, mapped bool) func() {
		dst, src := stacking(t, rows, mapped)
		backwards := make([]*tdict.TensorDict, rows)
		for i, row := range src {
			backwards[rows-1-i] = row
		}
		require.NoError(t, shapeops.StackInto(dst, backwards, 0))
		first := tensor.Must(tensor.Must(dst.Tensor("leaf7")).Index(ix.At(0), ix.At(0)))
		require.Equal(t, []float32{float32(4 * (rows - 1))}, testkit.Elements[float32](t, first))
		return func() { require.NoError(t, shapeops.StackInto(dst, src, 0)) }
	}
	testkit.Near(t, 1.5, stack(640, false), stack(640, true))
	testkit.Near(t, 15, stack(320, true), stack(3200, true))
}

// BenchmarkStackIntoFiles stacks rows of 8 leaves into mapped files, from others or from Go memory.
func BenchmarkStackIntoFiles(b *testing.B) {
	for _, rows := range []int{320, 3200, 32_000} {
		for _, from := range []string{"memory", "files"} {
			b.Run(fmt.Sprintf("rows=%d/from=%s", rows, from), func(b *testing.B) {
				dst, src := stacking(b, rows, from == "files")
				b.SetBytes(int64(rows * stepLeaves * 16))
				b.ReportAllocs()
				for b.Loop() {
					if err := shapeops.StackInto(dst, src, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
