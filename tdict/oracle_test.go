package tdict_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// oracle runs a test on random numbers of many seeds.
func oracle(t *testing.T, test func(t *testing.T, g gen)) {
	for seed := range uint64(longtests.Times(150, 600)) { // a dictionary each
		run := func(t *testing.T) { test(t, gen{t, rand.New(rand.NewPCG(seed, 1)), testkit.Layouts}) }
		if !t.Run(fmt.Sprint("seed=", seed), run) {
			return
		}
	}
}

// A gen makes random dictionaries, tensors and arguments.
type gen struct {
	t testing.TB
	*rand.Rand
	layouts []testkit.Layout // of leaves
}

// writable makes leaves that can be written to.
func (g gen) writable() gen {
	g.layouts = testkit.Layouts[:3]
	return g
}

// dict returns a dictionary, with dictionaries in it that mostly have a longer batch shape.
func (g gen) dict(batch []int, depth int) *tdict.TensorDict {
	td := tdict.New(batch...)
	for i := range g.IntN(5) {
		dtype := append(testkit.Widths, tensor.Bool)[g.IntN(6)]
		var v tdict.Value = g.leaf(dtype, slices.Concat(batch, naive.Shape(g.Rand, 2)))
		switch {
		case depth > 0 && g.IntN(3) == 0:
			v = g.dict(slices.Concat(batch, naive.Shape(g.Rand, 1)), depth-1)
		case g.IntN(6) == 0:
			v = g.data(slices.Concat(batch, naive.Shape(g.Rand, 1)))
		case g.IntN(6) == 0:
			v = tensor.Must(tdict.NewUnbatched(g.leaf(dtype, naive.Shape(g.Rand, 2))))
		}
		require.NoError(g.t, td.Set(nestedkey.Of("k"+string(rune('z'-i))), v))
	}
	return td
}

// leaf returns a tensor in a random layout.
func (g gen) leaf(d tensor.DType, shape []int) *tensor.Tensor {
	layout := g.layouts[g.IntN(len(g.layouts))]
	return testkit.Make(g.t, d, shape, layout, testkit.Go, g.IntN(100)).Tensor
}

// data returns data, with few values, so that some rows agree, or with one.
func (g gen) data(shape []int) *tdict.Data {
	if g.IntN(3) == 0 {
		return tensor.Must(tdict.NewData(g.IntN(9), shape...))
	}
	all := make([]any, naive.Size(shape))
	for i := range all {
		all[i] = g.IntN(3)
	}
	return tensor.Must(tdict.DataFrom(all, shape...))
}

// twin returns a dictionary with td's keys, in another order, and leaves of the same dtypes and
// shapes with other elements and layouts. If dim is not negative, it has the given size in all of
// them.
func (g gen) twin(td *tdict.TensorDict, dim, size int) *tdict.TensorDict {
	resized := func(shape shapeops.Shape) []int {
		shape = shape.Clone()
		if dim >= 0 {
			shape[dim] = size
		}
		return shape
	}
	out, all := tdict.New(resized(td.Shape())...), []entry{}
	for name, v := range td.All() {
		switch x := v.(type) {
		case *tensor.Tensor:
			v = g.leaf(x.DType(), resized(x.Shape()))
		case *tdict.TensorDict:
			v = g.twin(x, dim, size)
		case *tdict.Data:
			v = g.data(resized(x.Shape()))
		case *tdict.Unbatched:
			v = tensor.Must(tdict.NewUnbatched(tensor.Must(x.Tensor().Clone())))
		}
		all = append(all, entry{name, v})
	}
	for _, i := range g.Perm(len(all)) {
		require.NoError(g.t, out.Set(all[i].key, all[i].value))
	}
	return out
}

// An operation is one of a dictionary. What it makes of batch positions, it must make of the rows
// of each leaf.
type operation struct {
	name string
	want naive.Array
	ok   bool
	do   func(*tdict.TensorDict) (*tdict.TensorDict, error)
}

// operations returns the operations on one dictionary, with random arguments for a batch shape.
func (g gen) operations(batch shapeops.Shape) []operation {
	type dict = *tdict.TensorDict
	a, rank, expr := naive.New(batch...), len(batch), naive.Expr(g.Rand, batch)
	to, bigger, dim := naive.Factors(g.Rand, batch.Size()), slices.Concat(naive.Shape(g.Rand, 2), batch), g.IntN(rank+1)
	want, ok := a.Index(expr...)
	ones := func(size int) bool { return size == 1 }
	ops := []operation{
		{"index " + ix.Format(expr...), want, ok, func(td dict) (dict, error) { return td.Index(expr...) }},
		{"index into " + ix.Format(expr...), want, ok, func(td dict) (dict, error) { return g.indexInto(td, expr) }},
		{fmt.Sprint("reshape ", to), a.Reshape(to...), true, func(td dict) (dict, error) { return td.Reshape(g.inferred(to)...) }},
		{fmt.Sprint("expand ", bigger), a.Expand(bigger...), true, func(td dict) (dict, error) { return td.Expand(bigger...) }},
		{fmt.Sprint("unsqueeze ", dim), a.Reshape(slices.Insert(batch.Clone(), dim, 1)...), true,
			func(td dict) (dict, error) { return td.Unsqueeze(g.either(dim, rank+1)) }},
		{"squeeze", a.Reshape(slices.DeleteFunc(batch.Clone(), ones)...), true, func(td dict) (dict, error) { return td.Squeeze() }},
	}
	if rank == 0 {
		return ops
	}
	return slices.Concat(ops, g.dimOperations(a, batch), g.cuts(a, batch))
}

// dimOperations returns the operations that name a batch dim.
func (g gen) dimOperations(a naive.Array, batch shapeops.Shape) []operation {
	type dict = *tdict.TensorDict
	rank, order, swap := len(batch), g.Perm(len(batch)), make([]int, len(batch))
	i, j := g.IntN(rank), g.IntN(rank)
	first, last, sizes := min(i, j), max(i, j), naive.Factors(g.Rand, batch[i])
	joined := slices.Concat(batch[:first], []int{batch[first : last+1].Size()}, batch[last+1:])
	for dim := range swap {
		swap[dim] = dim
	}
	swap[i], swap[j] = j, i
	squeezed := batch.Clone()
	for _, dim := range slices.Compact([]int{last, first}) {
		if squeezed[dim] == 1 {
			squeezed = slices.Delete(squeezed, dim, dim+1)
		}
	}
	return []operation{
		{fmt.Sprint("permute ", order), a.Permute(order...), true, func(td dict) (dict, error) { return td.Permute(order...) }},
		{fmt.Sprint("transpose ", i, j), a.Permute(swap...), true,
			func(td dict) (dict, error) { return td.Transpose(g.either(i, rank), g.either(j, rank)) }},
		{fmt.Sprint("squeeze ", i, j), a.Reshape(squeezed...), true,
			func(td dict) (dict, error) { return td.Squeeze(g.either(i, rank), j) }},
		{fmt.Sprint("flatten ", first, last), a.Reshape(joined...), true,
			func(td dict) (dict, error) { return td.Flatten(first, g.either(last, rank)) }},
		{fmt.Sprint("unflatten ", i, sizes), a.Reshape(slices.Concat(batch[:i], sizes, batch[i+1:])...), true,
			func(td dict) (dict, error) { return td.Unflatten(g.either(i, rank), g.inferred(sizes)...) }},
	}
}

// cuts returns the operations that give several pieces, each as the operation that gives one of
// them.
func (g gen) cuts(a naive.Array, batch shapeops.Shape) []operation {
	type dicts = []*tdict.TensorDict
	dim, pick, n := g.IntN(len(batch)), g.IntN(100), 1+g.IntN(5)
	size, back := batch[dim], dim-len(batch)
	left := g.IntN(size + 1)
	chunk := max(1, (size+n-1)/n)
	operate := func(name string, sizes []int, do func(td *tdict.TensorDict) (dicts, error)) operation {
		op := operation{name: fmt.Sprint(name, dim, sizes, " piece ", pick), ok: len(sizes) > 0}
		if op.ok {
			op.want = a.Cut(dim, sizes...)[pick%len(sizes)]
		}
		op.do = func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return piece(td, pick, len(sizes), do) }
		return op
	}
	unbind := operate("unbind ", slices.Repeat([]int{1}, size), func(td *tdict.TensorDict) (dicts, error) { return shapeops.Unbind(td, back) })
	unbind.want.Shape = slices.Delete(batch.Clone(), dim, dim+1)
	return []operation{
		unbind,
		operate("split ", []int{left, 0, size - left}, func(td *tdict.TensorDict) (dicts, error) {
			return shapeops.Split(td, back, left, 0, size-left)
		}),
		operate("split by ", pieces(size, n), func(td *tdict.TensorDict) (dicts, error) { return shapeops.SplitBy(td, back, n) }),
		operate("chunk ", append(pieces(size, chunk), make([]int, 1-min(1, size))...), func(td *tdict.TensorDict) (dicts, error) {
			return shapeops.Chunk(td, back, n)
		}),
	}
}

// pieces returns the sizes of the pieces of at most n that a size is cut into.
func pieces(size, n int) (sizes []int) {
	for ; size > 0; size -= n {
		sizes = append(sizes, min(size, n))
	}
	return sizes
}

// piece returns a piece of what fn cuts td into, or an error unless there are n, or if there is
// none.
func piece(td *tdict.TensorDict, pick, n int, fn func(*tdict.TensorDict) ([]*tdict.TensorDict, error)) (*tdict.TensorDict, error) {
	all, err := fn(td)
	if err != nil || len(all) != n || n == 0 {
		return nil, fmt.Errorf("got %d pieces, want %d: %w", len(all), n, err)
	}
	return all[pick%n], nil
}

// indexInto is Index into a dictionary with its keys in another order and its leaves in other
// layouts.
func (g gen) indexInto(td *tdict.TensorDict, expr []ix.Index) (*tdict.TensorDict, error) {
	like, err := td.Index(expr...)
	if err != nil {
		return nil, err
	}
	dst := g.writable().twin(like, -1, 0)
	return dst, td.IndexInto(dst, expr...)
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

// rowsOf returns what a leaf holds in each position of its first dims, as text. An unbatched tensor
// is the same in all.
func rowsOf(t testing.TB, v tdict.Value, rank int) []string {
	t.Helper()
	n := v.Shape()[:rank].Size()
	rows := make([]string, n)
	switch x := v.(type) {
	case *tensor.Tensor:
		b := testkit.Content(t, x)
		for i := range rows {
			rows[i] = fmt.Sprint(b[i*len(b)/n : (i+1)*len(b)/n])
		}
	case *tdict.Data:
		all := slices.Collect(x.All())
		for i := range rows {
			rows[i] = fmt.Sprint(all[i*len(all)/n : (i+1)*len(all)/n])
		}
	case *tdict.Unbatched:
		for i := range rows {
			rows[i] = fmt.Sprint("all ", testkit.Content(t, x.Tensor()))
		}
	}
	return rows
}

// agrees checks got against several dictionaries: want has its batch positions, those of the
// dictionaries numbered on.
func agrees(t *testing.T, got *tdict.TensorDict, want naive.Array, tds ...*tdict.TensorDict) {
	t.Helper()
	rank := len(tds[0].Shape())
	require.ElementsMatch(t, keys(tds[0]), keys(got))
	require.Equal(t, shapeops.Shape(want.Shape), got.Shape().Clone())
	for _, key := range keys(got) {
		v, was := tensor.Must(got.Get(key)), tensor.Must(tds[0].Get(key))
		require.Equal(t, slices.Concat(shapeops.Shape(want.Shape), was.Shape()[rank:]).String(), v.Shape().String(), key)
		if _, isDict := v.(*tdict.TensorDict); isDict {
			continue
		}
		require.IsType(t, was, v)
		rows, after := []string{}, make([]string, len(want.At))
		for _, td := range tds {
			rows = append(rows, rowsOf(t, tensor.Must(td.Get(key)), rank)...)
		}
		for i, at := range want.At {
			after[i] = rows[at]
		}
		require.Equal(t, after, rowsOf(t, v, len(want.Shape)), key)
	}
}

// TestOracleOperations compares every operation on one dictionary with nested loops.
func TestOracleOperations(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(naive.Shape(g.Rand, 3), 2)
		testkit.Unchanged(t, td, state, func() {
			for _, op := range g.operations(td.Shape()) {
				got, err := op.do(td)
				require.Equal(t, op.ok, err == nil, "%s of %v: %v", op.name, td.Shape(), err)
				if err == nil {
					agrees(t, got, op.want, td)
					consistent(t, got)
					ruin(t, got)
				}
			}
		})
	})
}

// TestOracleSetIndex compares SetIndex with nested loops.
func TestOracleSetIndex(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.writable().dict(naive.Shape(g.Rand, 3), 2)
		before, expr, rank := tensor.Must(td.Clone()), naive.Expr(g.Rand, td.Shape()), len(td.Shape())
		want, ok := naive.New(td.Shape()...).Index(expr...)
		if !ok {
			require.ErrorIs(t, td.SetIndex(tdict.New(), expr...), shapeops.ErrIndex)
			return
		}
		value := g.twin(tensor.Must(td.Index(expr...)), -1, 0)
		if s := value.Shape(); len(s) > 1 && s[0] > 0 && g.IntN(2) == 0 {
			value = tensor.Must(value.Index(ix.At(0)))
		}
		for key := range before.Leaves() {
			if g.IntN(4) == 0 {
				value = value.Exclude(key)
			}
		}
		require.NoError(t, td.SetIndex(value, expr...), "[%s] of %v", ix.Format(expr...), td.Shape())
		for key := range before.Leaves() {
			after := rowsOf(t, tensor.Must(before.Get(key)), rank)
			if v, err := value.Get(key); err == nil {
				rows := rowsOf(t, v, len(value.Shape()))
				for i, at := range want.At {
					after[at] = rows[i%len(rows)]
				}
			}
			require.Equal(t, after, rowsOf(t, tensor.Must(td.Get(key)), rank), "%q after [%s] of %v", key, ix.Format(expr...), td.Shape())
		}
	})
}

// TestOracleJoin compares Stack and Cat, into new dictionaries and given ones, with nested loops.
func TestOracleJoin(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(naive.Shape(g.Rand, 3), 2)
		rank := len(td.Shape())
		stacked, catted := []*tdict.TensorDict{td}, []*tdict.TensorDict{td}
		at, dim := g.IntN(rank+1), g.IntN(rank+1)%max(1, rank)
		for range g.IntN(3) {
			stacked = append(stacked, g.twin(td, -1, 0))
			if rank > 0 {
				catted = append(catted, g.twin(td, dim, g.IntN(4)))
			}
		}
		verify := func(xs []*tdict.TensorDict, got *tdict.TensorDict, err error, into func(dst *tdict.TensorDict) error, join func([]naive.Array) naive.Array) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, keys(xs[0]), keys(got))
			shapes := [][]int{}
			for _, x := range xs {
				shapes = append(shapes, x.Shape())
			}
			agrees(t, got, join(naive.Number(shapes...)), xs...)
			dst := g.writable().twin(got, -1, 0)
			require.NoError(t, into(dst))
			require.True(t, dst.Equal(got))
		}
		got, err := shapeops.Stack(stacked, g.either(at, rank+1))
		verify(stacked, got, err, func(dst *tdict.TensorDict) error { return shapeops.StackInto(dst, stacked, at) },
			func(xs []naive.Array) naive.Array { return naive.Stack(xs, at) })
		if rank == 0 {
			require.ErrorIs(t, testkit.Err(shapeops.Cat(catted, 0)), shapeops.ErrDim)
			return
		}
		got, err = shapeops.Cat(catted, g.either(dim, rank))
		verify(catted, got, err, func(dst *tdict.TensorDict) error { return shapeops.CatInto(dst, catted, dim) },
			func(xs []naive.Array) naive.Array { return naive.Cat(xs, dim) })
	})
}

// TestOracleKeys compares the operations on keys with what they mean for a list of leaves.
func TestOracleKeys(t *testing.T) {
	oracle(t, func(t *testing.T, g gen) {
		td := g.dict(naive.Shape(g.Rand, 2), 3)
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

// sentinels are the reasons that an operation on keys may give.
var sentinels = []error{
	tdict.ErrMissing, tdict.ErrExists, tdict.ErrNotDict, tdict.ErrLocked, tdict.ErrCycle, tdict.ErrKind, nestedkey.ErrKey, shapeops.ErrShape,
}

func classified(err error) bool {
	for _, is := range sentinels {
		if errors.Is(err, is) {
			return true
		}
	}
	return err == nil
}

// FuzzKeys does what a script says to a dictionary, under keys that are any text. Whatever they
// are, nothing panics, each error is a known one and has changed nothing, what was done can be
// seen, and every key that the dictionary lists is well-formed and leads to its value.
func FuzzKeys(f *testing.F) {
	f.Add("a", "a/b", "b", []byte{0, 9, 18, 3, 13})
	f.Add("a/b/c", "a/d", "a/b", []byte{0, 1, 12, 24, 7, 36})
	f.Add("", "/", "//", []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 30, 31, 50})
	f.Add("~", "~0/~1", "x\xff", []byte{0, 1, 2, 9, 10, 20, 21})
	f.Fuzz(func(t *testing.T, a, b, c string, script []byte) {
		if len(script) > 40 || strings.Count(a+b+c, "/") > 40 {
			return
		}
		texts, td := [3]nestedkey.Key{nestedkey.Key(a), nestedkey.Key(b), nestedkey.Key(c)}, tdict.New(2)
		for _, code := range script {
			key, to := texts[code%3], texts[code/3%3]
			before := state(t, td)
			err := fuzzed(t, td, int(code/9), key, to)
			require.True(t, classified(err), "%v", err)
			if err != nil {
				require.Equal(t, before, state(t, td))
			}
			for _, key := range keys(td) {
				require.NoError(t, key.Check())
				require.True(t, td.Has(key))
			}
			consistent(t, td)
			require.NotEmpty(t, td.String())
		}
	})
}

// fuzzed does operation op to td and, if there is no error, checks what it has done.
func fuzzed(t *testing.T, td *tdict.TensorDict, op int, key, to nestedkey.Key) (err error) {
	existed := td.Has(key)
	op %= 7
	switch op {
	case 0, 1:
		var v tdict.Value = count(2)
		if op == 1 {
			v = tdict.New(2)
		}
		if err = td.Set(key, v); err == nil {
			require.Same(t, v, tensor.Must(td.Get(key)))
		}
	case 2:
		if err = td.Delete(key); err == nil {
			require.True(t, existed && !td.Has(key))
		}
	case 3, 4:
		v, _ := td.Get(key)
		if err = td.Rename(key, to); err == nil {
			require.Same(t, v, tensor.Must(td.Get(to)))
			require.True(t, key == to || !td.Has(key) || key.HasPrefix(to))
		}
	case 5:
		var d *tdict.TensorDict
		if d, err = td.Dict(key); err == nil {
			err = d.Set(to, td) // a cycle, whatever the key
			require.Error(t, err)
		}
	case 6:
		td.Lock()
		require.Error(t, td.Set(key, count(2)))
		require.NoError(t, td.Unlock())
	}
	return err
}
