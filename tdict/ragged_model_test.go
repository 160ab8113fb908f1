package tdict_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A clinic is a dictionary with ragged leaves of two layouts and of every depth, and what its rows
// are. The dense leaf row has a number for each row, from first on, so that it says where a row
// came from, whatever was done.
//
//	row     int64 [B...]
//	days    int64 [B... *]      one layout
//	codes   int64 [B... * *]    within that
//	pairs   int64 [B... * 2]    that
//	d/days  int64 [B... *]      that
//	own     int64 [B... *]      another
//	flat    int64 [B...]        of depth 0
type clinic struct {
	td   *tdict.TensorDict
	rows map[nestedkey.Key]map[int64]string // as JSON, by number
}

var raggedKeys = []nestedkey.Key{"days", "codes", "pairs", "d/days", "own", "flat"}

func newClinic(t *testing.T, rng *rand.Rand, first int64, batch ...int) *clinic {
	t.Helper()
	shape := shapeops.Shape(batch)
	visits := tensor.Must(ragged.LayoutOf(shape, lengthsOf(rng, shape.Size())))
	n := tensor.Must(visits.NumRows(1))
	codes := tensor.Must(ragged.LayoutOf(shape, tensor.Must(visits.Lengths(1)), lengthsOf(rng, n)))
	offsets := tensor.Must(codes.Offsets(2))
	codes = tensor.Must(visits.Nest(offsets))
	own := tensor.Must(ragged.LayoutOf(shape, lengthsOf(rng, shape.Size())))
	made := func(l *ragged.Layout, features ...int) *ragged.Tensor {
		rows := tensor.Must(l.NumRows(l.Depth()))
		x := tensor.Must(tensor.New(tensor.Int64, append([]int{rows}, features...)...))
		require.NoError(t, tensor.Write(x, func(s []int64) {
			for i := range s {
				s[i] = rng.Int64N(1000)
			}
		}))
		return tensor.Must(ragged.New(x, l))
	}
	numbers := tensor.Must(tensor.Arange(first, first+int64(shape.Size()), 1))
	c := &clinic{td: dict(batch, entry{"row", tensor.Must(numbers.Reshape(batch...))}, entry{"days", made(visits)},
		entry{"codes", made(codes)}, entry{"pairs", made(visits, 2)}, entry{"d/days", made(visits)}, entry{"own", made(own)},
		entry{"flat", made(tensor.Must(ragged.NewLayout(shape)))}), rows: map[nestedkey.Key]map[int64]string{}}
	for _, key := range raggedKeys {
		c.rows[key] = map[int64]string{-1: "[]"}
		for i, text := range raggedRows(t, c.td, key) {
			c.rows[key][first+int64(i)] = text
		}
	}
	c.rows["flat"][-1] = "0"
	return c
}

func lengthsOf(rng *rand.Rand, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = max(0, rng.Int64N(5)-1)
	}
	return out
}

// with has the rows of others too.
func (c *clinic) with(others ...*clinic) *clinic {
	for _, other := range others {
		for key, rows := range other.rows {
			for number, text := range rows {
				c.rows[key][number] = text
			}
		}
	}
	return c
}

// raggedRows returns the rows of a ragged leaf as JSON, row-major, each read by itself.
func raggedRows(t testing.TB, td *tdict.TensorDict, key nestedkey.Key) []string {
	t.Helper()
	x := tensor.Must(tdict.Get[*ragged.Tensor](td, key))
	var texts []string
	batch := x.Shape()
	for i := range batch.Size() {
		expr := make([]ix.Index, len(batch))
		for dim, rest := len(batch)-1, i; dim >= 0; dim-- {
			expr[dim] = ix.At(rest % batch[dim])
			rest /= batch[dim]
		}
		var out struct{ Values json.RawMessage }
		require.NoError(t, json.Unmarshal(tensor.Must(tensor.Must(x.Index(expr...)).MarshalJSON()), &out))
		texts = append(texts, string(out.Values))
	}
	return texts
}

// check checks that each row of td is the one that its number says, that leaves which shared a
// layout share one, and that td holds together.
func (c *clinic) check(t *testing.T, td *tdict.TensorDict, about string) {
	t.Helper()
	consistent(t, td)
	numbers := testkit.Elements[int64](t, tensor.Must(td.Tensor("row")))
	for _, key := range raggedKeys {
		want := make([]string, 0, len(numbers))
		for _, n := range numbers {
			want = append(want, c.rows[key][n])
		}
		got := raggedRows(t, td, key)
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(got), "%s: %s", about, key)
	}
	sharing(t, td, about)
}

// sharing checks that leaves which shared a layout share one.
func sharing(t *testing.T, td *tdict.TensorDict, about string) {
	t.Helper()
	layout := func(key nestedkey.Key) *ragged.Layout {
		return tensor.Must(tdict.Get[*ragged.Tensor](td, key)).Layout()
	}
	days := layout("days")
	require.Same(t, days, layout("pairs"), about)
	require.Same(t, days, layout("d/days"), about)
	require.Same(t, days, layout("codes").Outer(), about)
	require.NotSame(t, days, layout("own"), about)
	require.Same(t, days.Outer(), layout("codes").Outer().Outer(), about)
}

// randomExpr returns an index expression over a batch shape.
func randomExpr(rng *rand.Rand, batch shapeops.Shape, view bool) []ix.Index {
	var expr []ix.Index
	listed := view
	for _, n := range batch {
		if rng.IntN(6) == 0 {
			expr = append(expr, ix.New)
		}
		switch k := rng.IntN(6); {
		case k == 0 && n > 0:
			expr = append(expr, ix.At(rng.IntN(n)))
		case k == 1:
			expr = append(expr, ix.Range(rng.IntN(2), n).Step(1+rng.IntN(2)))
		case k == 2 && !listed && n > 0:
			listed = true
			expr = append(expr, ix.Take(rng.IntN(n), rng.IntN(n), -1))
		case k == 3 && !listed:
			listed = true
			bits := make([]bool, n)
			for i := range bits {
				bits[i] = rng.IntN(2) == 0
			}
			expr = append(expr, ix.Mask(bits))
		default:
			expr = append(expr, ix.Range(0, n))
		}
	}
	return expr
}

// modelOps are what is done to a dictionary of any batch shape; one that does not apply returns td.
var modelOps = []struct {
	name string
	run  func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error)
}{
	{"index", func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td.Index(randomExpr(rng, td.Shape(), false)...)
	}},
	{"index into", func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		expr := randomExpr(rng, td.Shape(), false)
		dst := tensor.Must(td.NewZeros(tensor.Must(td.Index(expr...)).Shape()...))
		return dst, td.IndexInto(dst, expr...)
	}},
	{"reshape", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td.Reshape(td.Shape().Size(), 1)
	}},
	{"permute", func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td.Permute(rng.Perm(len(td.Shape()))...)
	}},
	{"unsqueeze", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Unsqueeze(0) }},
	{"squeeze", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Squeeze() }},
	{"expand", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return td.Expand(append([]int{2}, td.Shape()...)...)
	}},
	{"clone", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Clone() }},
	{"copy", func(_ *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Copy(), nil }},
	{"stack", func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		return shapeops.Stack([]*tdict.TensorDict{td, tensor.Must(td.Clone()), td}, rng.IntN(len(td.Shape())+1))
	}},
	withDim("cat", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.Cat([]*tdict.TensorDict{td, td}, dim)
	}),
	withDim("cat of pieces", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.Cat(tensor.Must(shapeops.SplitBy(td, dim, 1)), dim)
	}),
	withDim("stack of rows", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.Stack(tensor.Must(shapeops.Unbind(td, dim)), dim)
	}),
	withDim("stack into", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		dst := tensor.Must(td.NewZeros(td.Shape()...))
		return dst, shapeops.StackInto(dst, tensor.Must(shapeops.Unbind(td, dim)), dim)
	}),
	withDim("flip", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.Flip(td, dim)
	}),
	withDim("roll", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.Roll(td, dim, 1)
	}),
	withDim("flip a clone in place", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		out := tensor.Must(td.Clone())
		return out, shapeops.FlipInto(out, out, dim)
	}),
	withDim("repeat interleave", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		return shapeops.RepeatInterleave(td, dim, 2)
	}),
	withDim("repeat each", func(rng *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		counts := make([]int, td.Shape()[dim])
		for i := range counts {
			counts[i] = rng.IntN(3)
		}
		return shapeops.RepeatEach(td, dim, counts)
	}),
	withDim("repeat", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		counts := make([]int, len(td.Shape()))
		for i := range counts {
			counts[i] = 1
		}
		counts[dim] = 2
		return shapeops.Repeat(td, counts...)
	}),
	withDim("pad", func(rng *rand.Rand, td *tdict.TensorDict, _ int) (*tdict.TensorDict, error) {
		sizes := make([]int, 2*len(td.Shape()))
		for i := range sizes {
			sizes[i] = rng.IntN(2)
		}
		return td.Pad(tdict.PadOptions{Fills: map[nestedkey.Key]any{"row": -1}}, sizes...)
	}),
	withDim("pad into", func(_ *rand.Rand, td *tdict.TensorDict, _ int) (*tdict.TensorDict, error) {
		opt := tdict.PadOptions{Fills: map[nestedkey.Key]any{"row": -1}}
		padded := tensor.Must(td.Pad(opt, 1, 1))
		dst := tensor.Must(padded.NewZeros(padded.Shape()...))
		return dst, td.PadInto(dst, opt, 1, 1)
	}),
	withDim("pad sequence", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		short := tensor.Must(td.Narrow(dim, 0, td.Shape()[dim]/2))
		out, err := shapeops.PadSequence([]*tdict.TensorDict{td, short}, shapeops.PadSequenceOptions{Dim: dim})
		if err != nil {
			return nil, err
		}
		rows := []*tensor.Tensor{tensor.Must(td.Tensor("row")), tensor.Must(short.Tensor("row"))} // which have padding of -1
		return out, out.Set("row", tensor.Must(shapeops.PadSequence(rows, shapeops.PadSequenceOptions{Dim: dim, Fill: -1})))
	}),
	withDim("unfold", func(_ *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		if td.Shape()[dim] < 2 {
			return td, nil
		}
		return shapeops.Unfold(td, dim, 2, 1)
	}),
	withDim("take", func(rng *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error) {
		n := td.Shape()[dim]
		if n == 0 {
			return td, nil
		}
		return td.Take(dim, tensor.Vector(int64(rng.IntN(n)), -1))
	}),
	withDim("masked select", func(rng *rand.Rand, td *tdict.TensorDict, _ int) (*tdict.TensorDict, error) {
		bits := make([]bool, td.Shape()[0])
		for i := range bits {
			bits[i] = rng.IntN(2) == 0
		}
		return td.MaskedSelect(tensor.Vector(bits...))
	}),
	withDim("set index", func(rng *rand.Rand, td *tdict.TensorDict, _ int) (*tdict.TensorDict, error) {
		out, expr := tensor.Must(td.Clone()), randomExpr(rng, td.Shape(), false)
		src := tensor.Must(out.Index(expr...))
		if s := src.Shape(); len(s) > 0 && s.Size() > 0 {
			src = tensor.Must(shapeops.Flip(tensor.Must(src.Clone()), 0))
		}
		return out, out.SetIndex(src, expr...)
	}),
	withDim("set one row everywhere", func(rng *rand.Rand, td *tdict.TensorDict, _ int) (*tdict.TensorDict, error) {
		if td.Shape().Size() == 0 {
			return td, nil
		}
		expr := make([]ix.Index, len(td.Shape()))
		for i := range expr {
			expr[i] = ix.At(-1)
		}
		out := tensor.Must(td.Clone())
		return out, out.SetIndex(tensor.Must(tensor.Must(td.Index(expr...)).Clone()), randomExpr(rng, td.Shape(), false)...)
	}),
}

type modelOp = func(rng *rand.Rand, td *tdict.TensorDict, dim int) (*tdict.TensorDict, error)

// withDim is an operation along a dim, which a batch shape [] has not.
func withDim(name string, op modelOp) (out struct {
	name string
	run  func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error)
}) {
	out.name = name
	out.run = func(rng *rand.Rand, td *tdict.TensorDict) (*tdict.TensorDict, error) {
		if len(td.Shape()) == 0 {
			return td, nil
		}
		dim := rng.IntN(len(td.Shape()))
		if td.Shape()[dim] == 0 && (name == "stack of rows" || name == "stack into" || name == "cat of pieces") {
			return td, nil
		}
		return op(rng, td, dim)
	}
	return out
}

// Whatever is done to a dictionary, one operation after another, rows stay whole and go where those
// of a dense leaf go, and leaves that share a layout keep sharing one.
func TestRaggedLeavesFollowTheBatch(t *testing.T) {
	shapes := []shapeops.Shape{{}, {1}, {4}, {2, 3}, {3, 1, 2}, {0}, {2, 0}}
	for seed := range uint64(longtests.Times(80, 300)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := newClinic(t, rng, 0, shapes[rng.IntN(len(shapes))]...)
		td, about := c.td, fmt.Sprint("seed ", seed, " ", c.td.Shape())
		for range 4 {
			op := modelOps[rng.IntN(len(modelOps))]
			about += ", " + op.name
			out, err := op.run(rng, td)
			require.NoError(t, err, about)
			c.check(t, out, about)
			c.check(t, td, about+": what it was done to")
			if out.Shape().Size() < 50 && len(out.Shape()) < 5 {
				td = out
			}
		}
	}
}

// Rows of another dictionary, of other lengths, take the places of those that were there, or lie
// beside them.
func TestRaggedLeavesOfSeveral(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		batch := []shapeops.Shape{{3}, {2, 3}, {1, 2, 2}}[rng.IntN(3)]
		c, other := newClinic(t, rng, 0, batch...), newClinic(t, rng, 1000, batch...)
		c.with(other)
		about := fmt.Sprint("seed ", seed)
		dim := rng.IntN(len(batch))
		c.check(t, tensor.Must(shapeops.Stack([]*tdict.TensorDict{c.td, other.td}, dim)), about+", stack")
		c.check(t, tensor.Must(shapeops.Cat([]*tdict.TensorDict{other.td, c.td}, dim)), about+", cat")

		expr := randomExpr(rng, batch, false)
		for _, td := range []*tdict.TensorDict{tensor.Must(c.td.Clone()), tensor.Must(shapeops.Flip(c.td, 0))} {
			part := tensor.Must(other.td.Index(expr...))
			require.NoError(t, td.SetIndex(part, expr...), about)
			c.check(t, td, about+", set index")
			require.NoError(t, td.SetIndex(tensor.Must(c.td.Index(ix.At(0))), ix.At(-1)), about)
			c.check(t, td, about+", set index of a row")
		}
		td := tensor.Must(c.td.Clone())
		require.NoError(t, td.UpdateInPlace(other.td))
		c.check(t, td, about+", update in place")
		sharing(t, tensor.Must(td.NewZeros(td.Shape()...)), about)
	}
}
