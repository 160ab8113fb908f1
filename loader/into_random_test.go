package loader_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// randomTable returns n rows [n B...] with plain, nested and unbatched leaves under keys that end
// in suffix.
func randomTable(t testing.TB, r *rand.Rand, n int, more []int, suffix string, w float32) *tdict.TensorDict {
	t.Helper()
	shape := append([]int{n}, more...)
	td := tdict.New(shape...)
	size := n
	for _, m := range more {
		size *= m
	}
	x, y := make([]int64, size*3), make([]float32, size)
	for i := range x {
		x[i] = r.Int64N(1000)
	}
	for i := range y {
		y[i] = r.Float32()
	}
	sub := nestedkey.Key("in" + suffix)
	require.NoError(t, td.Set(nestedkey.Key("x"+suffix), must(tensor.From(x, append(slices.Clone(shape), 3)...))))
	require.NoError(t, td.Set(sub+"/y", must(tensor.From(y, shape...))))
	require.NoError(t, td.Set(sub+"/w", must(tdict.NewUnbatched(tensor.Vector(w, w+1)))))
	require.NoError(t, td.Set(nestedkey.Key("w"+suffix), must(tdict.NewUnbatched(tensor.Vector(w, w+2, w+3)))))
	return td
}

// randomMemory returns memory for n rows like a batch: plain, in mapped files, locked, every second
// row of other memory, or with its batch dims permuted.
func randomMemory(t testing.TB, r *rand.Rand, like *tdict.TensorDict, n int) *tdict.TensorDict {
	t.Helper()
	schema := tdict.SchemaOf(like)
	shape := append([]int{n}, like.Shape()[1:]...)
	switch kind := r.IntN(5); {
	case kind == 0:
		ds := must(memmap.Create(t.TempDir()+"/m", must(schema.Zeros(shape...)), memmap.CreateOptions{NoSums: true, NoSync: true}))
		t.Cleanup(func() { require.NoError(t, ds.Close()) })
		return ds.TensorDict
	case kind == 1:
		shape[0] = 2 * n
		return must(must(schema.Zeros(shape...)).Index(ix.Range(0, 2*n).Step(2)))
	case kind == 2 && len(shape) == 2:
		return must(must(schema.Zeros(shape[1], shape[0])).Permute(1, 0))
	case kind == 3:
		td := must(schema.Zeros(shape...))
		td.Lock()
		return td
	}
	return must(schema.Zeros(shape...))
}

// randomSource returns a source with unbatched leaves, and the tables it reads.
func randomSource(t testing.TB, r *rand.Rand) (name string, src loader.Source, tables []*tdict.TensorDict) {
	t.Helper()
	more := [][]int{nil, {2}, {1, 3}}[r.IntN(3)]
	n := 5 + r.IntN(30)
	table := func(n int, suffix string, w float32) loader.Source {
		td := randomTable(t, r, n, more, suffix, w)
		tables = append(tables, td)
		if r.IntN(3) == 0 {
			return must(loader.FromDataset(open(t, td)))
		}
		return must(loader.From(td))
	}
	function := func(src loader.Source) loader.Source {
		return must(loader.FromFunc(src.Len(), func(ctx context.Context, rows []int, dst *tdict.TensorDict) (*tdict.TensorDict, error) {
			if r := rows[0] % 3; r == 0 {
				dst = nil
			}
			return src.Fetch(ctx, rows, dst)
		}))
	}
	switch r.IntN(7) {
	case 0:
		return "concat", must(loader.Concat(table(n, "", 1), table(9, "", 1))), tables
	case 1:
		return "zip", must(loader.Zip(table(n, "", 1), table(n, "b", 5))), tables
	case 2:
		return "subset", must(loader.Subset(table(n, "", 1), append(r.Perm(n), 1, 0))), tables
	case 3:
		return "func", function(table(n, "", 1)), tables
	case 4:
		return "zip of concat and func", must(loader.Zip(must(loader.Concat(table(n, "", 1), table(7, "", 1))), function(table(n+7, "c", 3)))), tables
	case 5:
		return "concat of funcs", must(loader.Concat(function(table(n, "", 1)), function(table(9, "", 1)))), tables
	}
	return "table", table(n, "", 1), tables
}

// TestIntoRandom: batches in memory of any form are the batches without Into, whatever the source,
// and neither the tables nor the memory lose or change their unbatched tensors.
func TestIntoRandom(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		name, src, tables := randomSource(t, r)
		t.Run(fmt.Sprint(seed, " ", name), func(t *testing.T) {
			noLeak(t)
			before := texts(t, tables)
			opt := loader.Options{Batch: 1 + r.IntN(6), Seed: seed}
			if r.IntN(2) == 0 {
				opt.Sampler = sampler.Random()
			}
			opt.RowsKey = []nestedkey.Key{"", "row", "in/row", "new/deep/row"}[r.IntN(4)]
			if r.IntN(4) == 0 {
				opt.Transform = transform.Func("drop", func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td.Exclude("w"), nil })
			}
			want := all(t, must(loader.New(src, opt)), 2)
			like := first(t, src, opt)
			opt.Workers, opt.Poison = r.IntN(4), true
			hold := 1 + r.IntN(3)
			free := make(chan *tdict.TensorDict, 8)
			for range hold + r.IntN(3) {
				free <- randomMemory(t, r, like, opt.Batch+r.IntN(3))
			}
			var mu sync.Mutex
			var given []*tdict.TensorDict
			opt.Into = func(ctx context.Context) (*tdict.TensorDict, error) {
				select {
				case td := <-free:
					mu.Lock()
					defer mu.Unlock()
					given = append(given, td)
					return td, nil
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
			}
			l := must(loader.New(src, opt))
			var got []string
			var held []*tdict.TensorDict
			k := 0
			back := func() {
				got = append(got, string(must(held[0].MarshalJSON())))
				mu.Lock()
				mem := given[k]
				mu.Unlock()
				view := must(mem.Index(ix.Range(0, held[0].Shape()[0])))
				require.Equal(t, got[len(got)-1], string(must(view.MarshalJSON())), "the memory has the batch")
				free <- mem
				k++
				held = held[1:]
			}
			for l.Epoch() < 2 {
				for batch, err := range l.Batches(t.Context()) {
					require.NoError(t, err)
					if held = append(held, batch); len(held) == hold {
						back()
					}
				}
			}
			for len(held) > 0 {
				back()
			}
			require.Equal(t, want, got)
			require.Equal(t, before, texts(t, tables))
		})
	}
}

// texts returns the contents of tables.
func texts(t testing.TB, tables []*tdict.TensorDict) (all []string) {
	t.Helper()
	for _, td := range tables {
		all = append(all, string(must(td.MarshalJSON())))
	}
	return all
}
