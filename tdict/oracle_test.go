package tdict_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// rounds is how many random dictionaries an oracle test looks at; each has a seed of its own.
const rounds = 600

// oracle runs a test on random numbers of many seeds.
func oracle(t *testing.T, test func(t *testing.T, g gen)) {
	for seed := range uint64(rounds) {
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { test(t, gen{rand.New(rand.NewPCG(seed, 1)), true}) }) {
			return
		}
	}
}

// A gen makes random dictionaries, tensors and arguments.
type gen struct {
	*rand.Rand
	expanded bool // leaves may repeat elements in memory
}

// sizes returns a shape of at most n dims.
func (g gen) sizes(n int) []int {
	out := make([]int, g.IntN(n+1))
	for i := range out {
		out[i] = []int{0, 1, 1, 2, 2, 3, 3, 4}[g.IntN(8)]
	}
	return out
}

// dict returns a dictionary, with dictionaries in it that mostly have a longer batch shape.
func (g gen) dict(batch []int, depth int) *tdict.TensorDict {
	td := tdict.New(batch...)
	for i := range g.IntN(5) {
		var v tdict.Value = g.leaf(g.dtype(), slices.Concat(batch, g.sizes(2)))
		if depth > 0 && g.IntN(3) == 0 {
			v = g.dict(slices.Concat(batch, g.sizes(1)), depth-1)
		}
		_ = tensor.Must(td.SetDefault(nestedkey.Of("k"+string(rune('z'-i))), v))
	}
	return td
}

func (g gen) dtype() tensor.DType {
	return []tensor.DType{tensor.Bool, tensor.Uint8, tensor.BFloat16, tensor.Float32, tensor.Int64, tensor.Complex128}[g.IntN(6)]
}

// numbers returns a contiguous tensor of random elements.
func (g gen) numbers(d tensor.DType, shape []int) *tensor.Tensor {
	data := make([]int64, shapeops.Shape(shape).Size())
	for i := range data {
		data[i] = g.Int64N(100)
	}
	x := tensor.Must(tensor.From(data, shape...))
	if d == tensor.Bool {
		return tensor.Must(tensor.Map(x, func(v int64) bool { return v%2 == 0 }))
	}
	return tensor.Must(x.Cast(d))
}

// leaf returns a tensor of random elements that is contiguous, transposed, stepped or expanded.
func (g gen) leaf(d tensor.DType, shape []int) *tensor.Tensor {
	base, back := slices.Clone(shape), make([]int, len(shape))
	switch layout := g.IntN(4); {
	case layout == 0:
		slices.Reverse(base)
		for i := range back {
			back[i] = -1 - i
		}
		return tensor.Must(g.numbers(d, base).Permute(back...))
	case layout == 1:
		expr := make([]ix.Index, len(shape))
		for i := range base {
			base[i], expr[i] = 2*base[i]+1, ix.Range(1, ix.End).Step(2)
		}
		return tensor.Must(g.numbers(d, base).Index(expr...))
	case layout == 2 && len(shape) > 0 && g.expanded:
		base[g.IntN(len(base))] = 1
		return tensor.Must(g.numbers(d, base).Expand(shape...))
	}
	return g.numbers(d, shape)
}

// twin returns a dictionary with td's keys, in another order, and leaves of the same dtypes and shapes with other elements
// and layouts. If dim is not negative, it has the given size in all of them.
func (g gen) twin(td *tdict.TensorDict, dim, size int) *tdict.TensorDict {
	resized := func(shape []int) []int {
		shape = slices.Clone(shape)
		if dim >= 0 {
			shape[dim] = size
		}
		return shape
	}
	out := tdict.New(resized(td.Shape())...)
	names := slices.Collect(td.Keys(tdict.KeyOptions{}))
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		v := tensor.Must(td.Get(name))
		switch x := v.(type) {
		case *tensor.Tensor:
			v = g.leaf(x.DType(), resized(x.Shape()))
		case *tdict.TensorDict:
			v = g.twin(x, dim, size)
		}
		_ = tensor.Must(out.SetDefault(name, v))
	}
	return out
}

// expr returns an index expression over a batch shape; one in some has an error.
func (g gen) expr(batch []int) []ix.Index {
	var expr []ix.Index
	rest := g.IntN(3) == 0
	for dim := 0; dim < len(batch); dim++ {
		for g.IntN(6) == 0 {
			expr = append(expr, []ix.Index{ix.New, ix.Bool(true), ix.Bool(false)}[g.IntN(3)])
		}
		if rest && g.IntN(2) == 0 {
			expr, rest = append(expr, ix.Rest), false
			dim += g.IntN(len(batch) - dim)
		}
		if g.IntN(5) == 0 {
			return expr
		}
		size := batch[dim]
		switch kind := g.IntN(6); {
		case kind == 0:
			expr = append(expr, ix.All)
		case kind == 1 && size > 0:
			expr = append(expr, ix.At(g.IntN(2*size+g.IntN(20)/19)-size))
		case kind == 2 && size > 0:
			expr = append(expr, ix.Take(g.positions(g.IntN(4), size)...))
		case kind == 3 && size > 0:
			expr = append(expr, ix.TakeND(g.positions(2, size), 2, 1))
		case kind == 4 && dim+1 < len(batch) && g.IntN(2) == 0:
			expr = append(expr, ix.Mask(g.bits(size*batch[dim+1]), size, batch[dim+1]))
			dim++
		case kind == 4:
			expr = append(expr, ix.Mask(g.bits(size)))
		default:
			expr = append(expr, ix.Range(g.IntN(2*size+3)-size-1, g.IntN(2*size+3)-size-1).Step(1+g.IntN(3)))
		}
	}
	return expr
}

func (g gen) positions(n, size int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = g.IntN(2*size) - size
	}
	return list
}

func (g gen) bits(n int) []bool {
	bits := make([]bool, n)
	for i := range bits {
		bits[i] = g.IntN(2) == 0
	}
	return bits
}

// padded is the expression over a whole tensor that does what expr does over its leading dims, of which there are rank.
func padded(expr []ix.Index, rank, dims int) []ix.Index {
	used := 0
	for _, x := range expr {
		switch x.Kind() {
		case ix.KindMask:
			used += len(x.Shape())
		case ix.KindRest, ix.KindNew:
		default:
			used++
		}
	}
	whole := slices.Repeat([]ix.Index{ix.All}, max(0, rank-used))
	if at := slices.IndexFunc(expr, func(x ix.Index) bool { return x.Kind() == ix.KindRest }); at >= 0 {
		expr, whole = slices.Concat(expr[:at], whole, expr[at+1:]), nil
	}
	return slices.Concat(expr, whole, slices.Repeat([]ix.Index{ix.All}, dims-rank))
}

type (
	onDict = func(*tdict.TensorDict) (*tdict.TensorDict, error)
	onLeaf = func(*tensor.Tensor) (*tensor.Tensor, error)
)

// An operation is one of a dictionary, and what must become of a tensor that stands in it.
type operation struct {
	name string
	dict onDict
	leaf onLeaf
}

// operations returns the operations on one dictionary, with random arguments for a batch shape. On a leaf they are spelled
// out: every dim counts from the front, and every feature dim is named.
func (g gen) operations(batch shapeops.Shape) []operation {
	rank, expr, to, bigger := len(batch), g.expr(batch), g.factors(batch.Size()), slices.Concat(g.sizes(2), batch)
	behind := func(x *tensor.Tensor, shape ...int) []int { return slices.Concat(shape, x.Shape()[rank:]) }
	index := func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Index(padded(expr, rank, len(x.Shape()))...) }
	new := g.IntN(rank + 1)
	ops := []operation{
		{"index " + ix.Format(expr...), func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Index(expr...) }, index},
		{"index into " + ix.Format(expr...), func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return g.indexInto(td, expr) }, index},
		{
			fmt.Sprint("reshape ", to),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Reshape(g.inferred(to)...) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Reshape(behind(x, to...)...) },
		},
		{
			fmt.Sprint("expand ", bigger),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Expand(bigger...) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Expand(behind(x, bigger...)...) },
		},
		{
			fmt.Sprint("unsqueeze ", new),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Unsqueeze(g.either(new, rank+1)) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Unsqueeze(new) },
		},
		{
			"squeeze",
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Squeeze() },
			func(x *tensor.Tensor) (*tensor.Tensor, error) {
				return x.Reshape(behind(x, slices.DeleteFunc(batch.Clone(), func(size int) bool { return size == 1 })...)...)
			},
		},
	}
	if rank == 0 {
		return ops
	}
	return slices.Concat(ops, g.dimOperations(batch, behind), g.cuts(batch))
}

// dimOperations returns the operations that name a batch dim.
func (g gen) dimOperations(batch shapeops.Shape, behind func(x *tensor.Tensor, shape ...int) []int) []operation {
	rank, order := len(batch), g.Perm(len(batch))
	a, b := g.IntN(rank), g.IntN(rank)
	first, last := min(a, b), max(a, b)
	joined := slices.Concat(batch[:first], []int{batch[first : last+1].Size()}, batch[last+1:])
	cut := g.factors(batch[a])
	return []operation{
		{
			fmt.Sprint("permute ", order),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Permute(order...) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) {
				whole := slices.Clone(order)
				for dim := rank; dim < len(x.Shape()); dim++ {
					whole = append(whole, dim)
				}
				return x.Permute(whole...)
			},
		},
		{
			fmt.Sprint("transpose ", a, b),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
				return td.Transpose(g.either(a, rank), g.either(b, rank))
			},
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Transpose(a, b) },
		},
		{
			fmt.Sprint("squeeze ", a, b),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Squeeze(g.either(a, rank), b) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Squeeze(a, b) },
		},
		{
			fmt.Sprint("flatten ", first, last),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Flatten(first, g.either(last, rank)) },
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Reshape(behind(x, joined...)...) },
		},
		{
			fmt.Sprint("unflatten ", a, cut),
			func(td *tdict.TensorDict) (*tdict.TensorDict, error) {
				return td.Unflatten(g.either(a, rank), g.inferred(cut)...)
			},
			func(x *tensor.Tensor) (*tensor.Tensor, error) { return x.Unflatten(a, cut...) },
		},
	}
}

// cuts returns the operations that give several pieces, each as the operation that gives one of them.
func (g gen) cuts(batch shapeops.Shape) []operation {
	dim, pick, n := g.IntN(len(batch)), g.IntN(100), 1+g.IntN(5)
	left := g.IntN(batch[dim] + 1)
	sizes := []int{left, 0, batch[dim] - left}
	return []operation{
		cut(fmt.Sprint("split ", dim, sizes), pick, func(td *tdict.TensorDict) ([]*tdict.TensorDict, error) {
			return shapeops.Split(td, dim-len(batch), sizes...)
		}, func(x *tensor.Tensor) ([]*tensor.Tensor, error) { return shapeops.Split(x, dim, sizes...) }),
		cut(fmt.Sprint("split by ", dim, n), pick, func(td *tdict.TensorDict) ([]*tdict.TensorDict, error) {
			return shapeops.SplitBy(td, dim-len(batch), n)
		}, func(x *tensor.Tensor) ([]*tensor.Tensor, error) { return shapeops.SplitBy(x, dim, n) }),
		cut(fmt.Sprint("chunk ", dim, n), pick, func(td *tdict.TensorDict) ([]*tdict.TensorDict, error) {
			return shapeops.Chunk(td, dim-len(batch), n)
		}, func(x *tensor.Tensor) ([]*tensor.Tensor, error) { return shapeops.Chunk(x, dim, n) }),
		cut(fmt.Sprint("unbind ", dim), pick, func(td *tdict.TensorDict) ([]*tdict.TensorDict, error) {
			return shapeops.Unbind(td, dim-len(batch))
		}, func(x *tensor.Tensor) ([]*tensor.Tensor, error) { return shapeops.Unbind(x, dim) }),
	}
}

func cut(name string, pick int, dict func(*tdict.TensorDict) ([]*tdict.TensorDict, error), leaf func(*tensor.Tensor) ([]*tensor.Tensor, error)) operation {
	return operation{
		fmt.Sprint(name, ", piece ", pick),
		func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return piece(pick, td, dict) },
		func(x *tensor.Tensor) (*tensor.Tensor, error) { return piece(pick, x, leaf) },
	}
}

// piece returns a piece of what fn cuts x into, or an error if there is none.
func piece[T any](pick int, x T, fn func(T) ([]T, error)) (piece T, err error) {
	all, err := fn(x)
	if err != nil || len(all) == 0 {
		return piece, fmt.Errorf("%d pieces: %w", len(all), err)
	}
	return all[pick%len(all)], nil
}

// indexInto is Index into a dictionary with its keys in another order and its leaves in other layouts.
func (g gen) indexInto(td *tdict.TensorDict, expr []ix.Index) (*tdict.TensorDict, error) {
	like, err := td.Index(expr...)
	if err != nil {
		return nil, err
	}
	dst := gen{g.Rand, false}.twin(like, -1, 0)
	return dst, td.IndexInto(dst, expr...)
}

// factors returns a random shape of n elements.
func (g gen) factors(n int) []int {
	if n == 0 {
		return slices.Insert(g.sizes(2), 0, 0)
	}
	out := []int{}
	for f := 2; n > 1; f++ {
		for n%f == 0 && g.IntN(4) > 0 {
			out, n = append(out, f), n/f
		}
		if f > n {
			f = 1
		}
	}
	return out
}

// inferred returns a shape, perhaps with a size that the others tell replaced by Infer.
func (g gen) inferred(shape []int) []int {
	if len(shape) == 0 || slices.Contains(shape, 0) || g.IntN(2) == 0 {
		return shape
	}
	shape = slices.Clone(shape)
	shape[g.IntN(len(shape))] = shapeops.Infer
	return shape
}

// either spells a dim of a rank from the front or from the back.
func (g gen) either(dim, rank int) int { return dim - rank*g.IntN(2) }

// same checks that two tensors agree in dtype, shape and every byte.
func same(t *testing.T, want, got *tensor.Tensor, msg ...any) {
	t.Helper()
	require.Equal(t, want.DType(), got.DType(), msg...)
	require.Equal(t, want.Shape().String(), got.Shape().String(), msg...)
	require.Equal(t, content(t, want), content(t, got), msg...)
}

func content(t *testing.T, x *tensor.Tensor) []byte {
	var b bytes.Buffer
	_, err := x.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

// agrees checks got against what fn makes of the leaves that several dictionaries have under each key, and its batch
// shapes against what fn makes of tensors of theirs.
func agrees(t *testing.T, got *tdict.TensorDict, fn func(xs []*tensor.Tensor) (*tensor.Tensor, error), tds ...*tdict.TensorDict) {
	t.Helper()
	shapes := make([]*tensor.Tensor, len(tds))
	for i, td := range tds {
		shapes[i] = tensor.Must(tensor.Zeros[bool](td.Shape()...))
	}
	require.Equal(t, tensor.Must(fn(shapes)).Shape().String(), got.Shape().String())
	require.Equal(t, tds[0].NumEntries(), got.NumEntries())
	for name, v := range tds[0].All() {
		if _, ok := v.(*tdict.TensorDict); ok {
			inner := make([]*tdict.TensorDict, len(tds))
			for i, td := range tds {
				inner[i] = tensor.Must(td.Dict(name))
			}
			agrees(t, tensor.Must(got.Dict(name)), fn, inner...)
			continue
		}
		xs := make([]*tensor.Tensor, len(tds))
		for i, td := range tds {
			xs[i] = tensor.Must(td.Tensor(name))
		}
		want, x := tensor.Must(fn(xs)), tensor.Must(got.Tensor(name))
		same(t, want, x, name)
	}
}

// TestOracleOperations compares every operation on one dictionary with the same on each leaf as a plain tensor.
func TestOracleOperations(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(g.sizes(3), 2)
		before, order := tensor.Must(td.Clone()), keys(td)
		plain := tensor.Must(tensor.Zeros[bool](td.Shape()...))
		for _, op := range g.operations(td.Shape()) {
			t.Run(op.name, func(t *testing.T) {
				got, err := op.dict(td)
				_, plainErr := op.leaf(plain)
				require.Equal(t, plainErr == nil, err == nil, "%v, of a plain tensor: %v", err, plainErr)
				if err != nil {
					return
				}
				agrees(t, got, func(xs []*tensor.Tensor) (*tensor.Tensor, error) { return op.leaf(xs[0]) }, td)
				consistent(t, got)
				ruin(t, got)
			})
		}
		require.Equal(t, order, keys(td))
		require.True(t, before.Equal(td))
	})
}

// TestOracleSetIndex compares SetIndex with writing to each leaf as a plain tensor.
func TestOracleSetIndex(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := gen{g.Rand, false}.dict(g.sizes(3), 2)
		before, expr := tensor.Must(td.Clone()), g.expr(td.Shape())
		part, err := td.Index(expr...)
		if err != nil {
			require.ErrorIs(t, td.SetIndex(tdict.New(), expr...), shapeops.ErrIndex)
			return
		}
		value := g.twin(part, -1, 0)
		if s := part.Shape(); len(s) > 1 && s[0] > 0 && g.IntN(2) == 0 {
			value = tensor.Must(value.Index(ix.At(0)))
		}
		for key := range part.Leaves() {
			if g.IntN(4) == 0 {
				value = value.Exclude(key)
			}
		}
		require.NoError(t, td.SetIndex(value, expr...), "[%s] of %v", ix.Format(expr...), td.Shape())
		for key := range before.Leaves() {
			want := tensor.Must(before.Tensor(key))
			if value.Has(key) {
				err := want.SetIndex(tensor.Must(value.Tensor(key)), padded(expr, len(td.Shape()), len(want.Shape()))...)
				require.NoError(t, err)
			}
			same(t, want, tensor.Must(td.Tensor(key)), "%q after [%s] of %v", key, ix.Format(expr...), td.Shape())
		}
	})
}

// TestOracleJoin compares Stack and Cat, into new dictionaries and given ones, with the same on the leaves.
func TestOracleJoin(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(g.sizes(3), 2)
		rank := len(td.Shape())
		stacked, catted := []*tdict.TensorDict{td}, []*tdict.TensorDict{td}
		at, dim := g.IntN(rank+1), g.IntN(rank+1)%max(1, rank)
		for range g.IntN(3) {
			stacked = append(stacked, g.twin(td, -1, 0))
			if rank > 0 {
				catted = append(catted, g.twin(td, dim, g.IntN(4)))
			}
		}
		verify := func(xs []*tdict.TensorDict, got *tdict.TensorDict, err error, into func(dst *tdict.TensorDict) error, leaf func([]*tensor.Tensor) (*tensor.Tensor, error)) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, keys(xs[0]), keys(got))
			agrees(t, got, leaf, xs...)
			dst := gen{g.Rand, false}.twin(got, -1, 0)
			require.NoError(t, into(dst))
			require.True(t, dst.Equal(got))
		}
		got, err := shapeops.Stack(stacked, g.either(at, rank+1))
		verify(stacked, got, err, func(dst *tdict.TensorDict) error { return shapeops.StackInto(dst, stacked, at) },
			func(xs []*tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Stack(xs, at) })
		if rank == 0 {
			require.ErrorIs(t, only(shapeops.Cat(catted, 0)), shapeops.ErrDim)
			return
		}
		got, err = shapeops.Cat(catted, g.either(dim, rank))
		verify(catted, got, err, func(dst *tdict.TensorDict) error { return shapeops.CatInto(dst, catted, dim) },
			func(xs []*tensor.Tensor) (*tensor.Tensor, error) { return shapeops.Cat(xs, dim) })
	})
}

// TestOracleKeys compares the operations on keys with what they mean for a list of leaves.
func TestOracleKeys(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(g.sizes(2), 3)
		all := keys(td)
		chosen := slices.DeleteFunc(slices.Clone(all), func(nestedkey.Key) bool { return g.IntN(3) > 0 })
		under := func(key nestedkey.Key, roots []nestedkey.Key) bool {
			return slices.ContainsFunc(roots, func(root nestedkey.Key) bool { return key.HasPrefix(root) })
		}
		longest := slices.DeleteFunc(slices.Clone(chosen), func(key nestedkey.Key) bool {
			return slices.ContainsFunc(chosen, func(other nestedkey.Key) bool { return other != key && other.HasPrefix(key) })
		})
		leaves := func(td *tdict.TensorDict, rename func(nestedkey.Key) nestedkey.Key, keep func(nestedkey.Key) bool) (list []entry) {
			for key, leaf := range td.Leaves() {
				if keep(key) {
					list = append(list, entry{rename(key), leaf})
				}
			}
			return list
		}
		asIs := func(key nestedkey.Key) nestedkey.Key { return key }
		every := func(nestedkey.Key) bool { return true }
		joined := func(key nestedkey.Key) nestedkey.Key {
			return nestedkey.Of(strings.Join(slices.Collect(key.Parts()), "."))
		}
		selected := tensor.Must(td.Select(chosen...))
		flat := tensor.Must(td.FlattenKeys("."))
		require.Equal(t, leaves(td, asIs, func(key nestedkey.Key) bool { return under(key, longest) }), leaves(selected, asIs, every))
		require.Equal(t, leaves(td, asIs, func(key nestedkey.Key) bool { return !under(key, chosen) }), leaves(td.Exclude(chosen...), asIs, every))
		require.Equal(t, leaves(td, joined, every), leaves(flat, asIs, every))
		require.Equal(t, leaves(td, asIs, every), leaves(tensor.Must(flat.UnflattenKeys(".")), asIs, every))
		for _, derived := range []*tdict.TensorDict{selected, td.Exclude(chosen...), flat} {
			consistent(t, derived)
			ruin(t, derived)
		}
		require.Equal(t, all, keys(td))
	})
}
