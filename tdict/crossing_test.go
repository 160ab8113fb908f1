package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbered returns a dictionary of so many leaves that make makes.
func numbered(batch []int, leaves int, leaf func(i int) *tensor.Tensor) *tdict.TensorDict {
	td := tdict.New(batch...)
	for i := range leaves {
		if err := td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), leaf(i)); err != nil {
			panic(err)
		}
	}
	return td
}

// columns returns two dictionaries of so many columns of a table of int32 [rows 2n], turn and turn
// about, or as shuffled.
func columns(table *tensor.Tensor, n int, shuffled bool) (dst, src *tdict.TensorDict) {
	return columnsBy(n, shuffled, func(i int) *tensor.Tensor { return tensor.Must(table.Index(ix.All, ix.At(i))) })
}

func columnsBy(n int, shuffled bool, column func(i int) *tensor.Tensor) (dst, src *tdict.TensorDict) {
	order := make([]int, 2*n)
	for i := range order {
		order[i] = i
	}
	if shuffled {
		rand.New(rand.NewPCG(3, 4)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	from := func(start int) *tdict.TensorDict {
		return numbered(nil, n, func(i int) *tensor.Tensor { return column(order[2*i+start]) })
	}
	return from(0), from(1)
}

func table(rows, n int) *tensor.Tensor {
	x := tensor.Must(tensor.Arange[int32](0, int32(rows*n), 1))
	return tensor.Must(x.Reshape(rows, n))
}

// Columns of one table are told apart, however they lie among one another.
func TestCopiesBetweenColumns(t *testing.T) {
	for _, n := range []int{5, 200, 2000} {
		for _, shuffled := range []bool{false, true} {
			t.Run(fmt.Sprintf("columns=%d/shuffled=%v", n, shuffled), func(t *testing.T) {
				dst, src := columns(table(7, 2*n), n, shuffled)
				want := tensor.Must(src.Clone())
				require.NoError(t, dst.SetIndex(src))
				require.True(t, dst.Equal(want))
				require.True(t, src.Equal(want))

				key := nestedkey.Of(fmt.Sprint("leaf", n/2))
				require.NoError(t, src.Set(key, tensor.Must(dst.Tensor("leaf0"))))
				want = tensor.Must(src.Clone())
				require.NoError(t, dst.SetIndex(src), "one column is read and written")
				require.True(t, dst.Equal(want))
			})
		}
	}
}

// Parts that no dim tells apart by itself are told apart too.
func TestCopiesBetweenColumnsOfManyDims(t *testing.T) {
	const n = 1000
	index := func(expr func(i int) []ix.Index) func(x *tensor.Tensor, i int) *tensor.Tensor {
		return func(x *tensor.Tensor, i int) *tensor.Tensor { return tensor.Must(x.Index(expr(i)...)) }
	}
	tests := []struct {
		name   string
		shape  []int
		column func(x *tensor.Tensor, i int) *tensor.Tensor
	}{
		{"half of the dim between", []int{3, 4, 2 * n}, index(func(i int) []ix.Index { return []ix.Index{ix.All, ix.Range(0, 2), ix.At(i)} })},
		{"every second of the dim between", []int{3, 5, 2 * n}, index(func(i int) []ix.Index { return []ix.Index{ix.All, ix.All.Step(2), ix.At(i)} })},
		{"with a dim after it", []int{3, 2 * n, 4}, index(func(i int) []ix.Index { return []ix.Index{ix.All, ix.At(i), ix.Range(1, 4)} })},
		{"with dims around it", []int{3, 5, 2 * n, 4}, index(func(i int) []ix.Index { return []ix.Index{ix.All, ix.Range(1, 4), ix.At(i), ix.All.Step(2)} })},
		{"transposed", []int{3, 5, 2 * n}, func(x *tensor.Tensor, i int) *tensor.Tensor {
			return tensor.Must(tensor.Must(x.Index(ix.All, ix.Range(1, 4), ix.At(i))).Transpose(0, 1))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := tensor.Must(tensor.Must(tensor.Arange[int32](0, int32(shapeops.Shape(tt.shape).Size()), 1)).Reshape(tt.shape...))
			dst, src := columnsBy(n, true, func(i int) *tensor.Tensor { return tt.column(x, i) })
			want := tensor.Must(src.Clone())
			require.NoError(t, dst.SetIndex(src))
			require.True(t, dst.Equal(want))
			require.True(t, src.Equal(want))
		})
	}
}

// lent returns two dictionaries of so many leaves each, int32 [4 4], side by side in one memory.
// With apart, each leaf has a Lender of its own that says by its identity what it lends; else all
// have one.
func lent(leaves int, apart bool) (dst, src *tdict.TensorDict) {
	const size = 4 * 4 * 4
	whole := &testkit.Lender{Bytes: make([]byte, 2*leaves*size)}
	for i := range whole.Bytes {
		whole.Bytes[i] = byte(i % 251)
	}
	from := func(start int) *tdict.TensorDict {
		return numbered([]int{4}, leaves, func(i int) *tensor.Tensor {
			var lender tensor.Lender = whole
			if apart {
				lender = &sameMemory{whole}
			}
			return tensor.Must(tensor.FromLender(tensor.Int32, lender, (start+i)*size, 4, 4))
		})
	}
	return from(0), from(leaves)
}

// A sameMemory lends what another Lender does.
type sameMemory struct{ *testkit.Lender }

func (l *sameMemory) Identity() any { return l.Lender }

var _ tensor.Lender = &sameMemory{}

// Leaves at different places of one lent memory are told apart.
func TestCopiesWithinLentMemory(t *testing.T) {
	for _, apart := range []bool{false, true} {
		t.Run(fmt.Sprintf("lenders=%v", apart), func(t *testing.T) {
			dst, src := lent(1600, apart)
			want := tensor.Must(src.Clone())
			require.NoError(t, dst.SetIndex(src))
			require.True(t, dst.Equal(want))
			require.NoError(t, src.IndexInto(dst, ix.Take(3, 2, 1, 0)))
			require.True(t, dst.Equal(tensor.Must(want.Index(ix.Take(3, 2, 1, 0)))))
			require.True(t, src.Equal(want))

			late := tensor.Must(tensor.Must(dst.Tensor("leaf1599")).Index(ix.All, ix.Range(1, 3)))
			early := tensor.Must(src.Tensor("leaf0"))
			var tr tensor.Transfer
			for key, to := range dst.Tensors() {
				require.NoError(t, tr.Copy(to, tensor.Must(src.Tensor(key))))
			}
			require.NoError(t, tr.Copy(tensor.Must(early.Index(ix.All, ix.Range(0, 2))), late))
			read := tensor.Must(late.Clone())
			require.NoError(t, tr.Run())
			require.True(t, dst.Equal(want))
			require.True(t, tensor.Must(early.Index(ix.All, ix.Range(0, 2))).Equal(read), "as it was before Run")
		})
	}
}

// BenchmarkCopyBetweenColumns sets columns of a table to others of it, or, with from=elsewhere, to
// the same ones of another table.
func BenchmarkCopyBetweenColumns(b *testing.B) {
	for _, size := range []struct{ n, rows int }{{200, 1000}, {200, 10_000}, {2000, 1000}} {
		for _, order := range []string{"in-turn", "shuffled"} {
			whole := table(size.rows, 2*size.n)
			dst, src := columns(whole, size.n, order == "shuffled")
			_, other := columns(tensor.Must(whole.Clone()), size.n, order == "shuffled")
			for _, from := range []struct {
				name string
				src  *tdict.TensorDict
			}{{"elsewhere", other}, {"table", src}} {
				b.Run(fmt.Sprintf("columns=%d/rows=%d/order=%s/from=%s", size.n, size.rows, order, from.name), func(b *testing.B) {
					setAll(b, dst, from.src, 4*size.rows*size.n)
				})
			}
		}
	}
}

func setAll(b *testing.B, dst, src *tdict.TensorDict, bytes int) {
	b.SetBytes(int64(bytes))
	loop(b, func() error { return dst.SetIndex(src) })
}

// BenchmarkCopyWithinLent copies between leaves in one lent memory, lent by one Lender or by one
// each, or, with from=elsewhere, from Go memory.
func BenchmarkCopyWithinLent(b *testing.B) {
	for _, leaves := range []int{1600, 16_000, 160_000} {
		for _, lenders := range []string{"one", "each"} {
			dst, src := lent(leaves/2, lenders == "each")
			elsewhere := tensor.Must(src.Clone())
			verbs := []struct {
				name string
				run  func(src *tdict.TensorDict) error
			}{
				{"set", func(src *tdict.TensorDict) error { return dst.SetIndex(src) }},
				{"index", func(src *tdict.TensorDict) error { return src.IndexInto(dst, ix.All) }},
			}
			for _, verb := range verbs {
				for _, from := range []struct {
					name string
					src  *tdict.TensorDict
				}{{"elsewhere", elsewhere}, {"lent", src}} {
					b.Run(fmt.Sprintf("leaves=%d/lenders=%s/verb=%s/from=%s", leaves, lenders, verb.name, from.name), func(b *testing.B) {
						b.SetBytes(int64(leaves / 2 * 64))
						loop(b, func() error { return verb.run(from.src) })
					})
				}
			}
		}
	}
}

// What copies between parts of one memory allocate does not grow faster than their number.
func TestCopiesWithinAMemoryAllocateInProportion(t *testing.T) {
	for _, apart := range []bool{false, true} {
		few := func() func() { dst, src := lent(500, apart); return func() { require.NoError(t, dst.SetIndex(src)) } }()
		many := func() func() { dst, src := lent(5000, apart); return func() { require.NoError(t, dst.SetIndex(src)) } }()
		testkit.Near(t, 25, few, many)
	}
	pair := func(n int) func() {
		dst, src := columns(table(3, 2*n), n, true)
		return func() { require.NoError(t, dst.SetIndex(src)) }
	}
	testkit.Near(t, 25, pair(200), pair(2000))
}
