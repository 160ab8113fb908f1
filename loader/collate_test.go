package loader_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// uneven returns a dictionary with three rows:
//
//	row       int64 [3]
//	x         ragged int64 [3 *]: 1 2; nothing; 3 4 5
//	deep/y    ragged int64 [3 * *]: 1, 2 3; nothing; 4
func uneven(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(3)
	require.NoError(t, td.Set("row", tensor.Vector[int64](0, 1, 2)))
	require.NoError(t, td.Set("x", must(ragged.From[int64]([][]int64{{1, 2}, {}, {3, 4, 5}}))))
	require.NoError(t, td.Set("deep/y", must(ragged.From[int64]([][][]int64{{{1}, {2, 3}}, {}, {{4}}}))))
	return td
}

func TestPad(t *testing.T) {
	const o, x = false, true
	tests := []struct {
		name  string
		opt   ragged.DensifyOptions
		only  nestedkey.Key // the only leaf to pad, or "" for all
		key   nestedkey.Key
		shape shapeops.Shape
		want  any // int64s or bools; nil for what is ragged yet
	}{
		{"to the longest", ragged.DensifyOptions{}, "", "x", shapeops.Shape{3, 3}, []int64{1, 2, 0, 0, 0, 0, 3, 4, 5}},
		{"at both levels", ragged.DensifyOptions{}, "", "deep/y", shapeops.Shape{3, 2, 2}, []int64{1, 0, 2, 3, 0, 0, 0, 0, 4, 0, 0, 0}},
		{"before each row", ragged.DensifyOptions{Left: true}, "", "x", shapeops.Shape{3, 3}, []int64{0, 1, 2, 0, 0, 0, 3, 4, 5}},
		{"with a number", ragged.DensifyOptions{Fill: -1}, "", "x", shapeops.Shape{3, 3}, []int64{1, 2, -1, -1, -1, -1, 3, 4, 5}},
		{"to a width", ragged.DensifyOptions{Widths: []int{4}}, "x", "x", shapeops.Shape{3, 4}, []int64{1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 0}},
		{"cut at a width", ragged.DensifyOptions{Widths: []int{2}}, "", "x", shapeops.Shape{3, 2}, []int64{1, 2, 0, 0, 3, 4}},
		{"cut before it", ragged.DensifyOptions{Widths: []int{2}, KeepLast: true}, "", "x", shapeops.Shape{3, 2}, []int64{1, 2, 0, 0, 4, 5}},
		{"a width for each level", ragged.DensifyOptions{Widths: []int{1, 3}}, "deep/y", "deep/y", shapeops.Shape{3, 1, 3}, []int64{1, 0, 0, 0, 0, 0, 4, 0, 0}},
		{"one key of several", ragged.DensifyOptions{}, "deep/y", "deep/y", shapeops.Shape{3, 2, 2}, []int64{1, 0, 2, 3, 0, 0, 0, 0, 4, 0, 0, 0}},
		{"others stay ragged", ragged.DensifyOptions{}, "deep/y", "x", nil, nil},
		{"dense ones stay", ragged.DensifyOptions{}, "", "row", shapeops.Shape{3}, []int64{0, 1, 2}},
		{"a mask of one level", ragged.DensifyOptions{Masks: "m"}, "", "m/x", shapeops.Shape{3, 3}, []bool{x, x, o, o, o, o, x, x, x}},
		{"a mask on the left", ragged.DensifyOptions{Masks: "m", Left: true}, "", "m/x", shapeops.Shape{3, 3}, []bool{o, x, x, o, o, o, x, x, x}},
		{"a mask of the first of two levels", ragged.DensifyOptions{Masks: "deep/m"}, "", "deep/m/deep/y/1", shapeops.Shape{3, 2}, []bool{x, x, o, o, x, o}},
		{"a mask of the second", ragged.DensifyOptions{Masks: "m"}, "", "m/deep/y/2", shapeops.Shape{3, 2, 2}, []bool{x, o, x, x, o, o, o, o, x, o, o, o}},
		{"what the masks are of", ragged.DensifyOptions{Masks: "m"}, "", "x", shapeops.Shape{3, 3}, []int64{1, 2, 0, 0, 0, 0, 3, 4, 5}},
	}
	for _, tt := range tests {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/own=%t", tt.name, own), func(t *testing.T) {
				td := uneven(t)
				pad := loader.Pad(tt.opt)
				if tt.only != "" {
					pad = loader.Pad(tt.opt, tt.only)
				}
				l := must(loader.New(must(loader.From(td)), loader.Options{Batch: 3, Collate: pad, Own: own}))
				for batch, err := range l.Batches(t.Context()) {
					require.NoError(t, err)
					requirePadded(t, batch, tt.key, tt.shape, tt.want)
				}
				require.True(t, td.Equal(uneven(t)), "the source is as it was")
			})
		}
	}
}

// requirePadded fails the test unless a batch has a tensor, or a ragged one if want is nil.
func requirePadded(t *testing.T, batch *tdict.TensorDict, key nestedkey.Key, shape shapeops.Shape, want any) {
	t.Helper()
	if want == nil {
		require.NoError(t, testkit.Err(tdict.Get[*ragged.Tensor](batch, key)))
		return
	}
	x := must(batch.Tensor(key))
	require.Equal(t, shape, x.Shape().Clone())
	if x.DType() == tensor.Bool {
		require.Equal(t, want, testkit.Elements[bool](t, x))
		return
	}
	require.Equal(t, want, testkit.Elements[int64](t, x))
}

// Batches of other widths, one after the other in the same memory, have nothing of the one before.
func TestPadInTheSameMemory(t *testing.T) {
	td := kinds(t, 0, 60)
	for _, opt := range []loader.Options{{}, {Workers: 2}, {Poison: true}, {Own: true}} {
		opt.Batch, opt.Sampler, opt.Collate = 3, sampler.Random(), loader.Pad(ragged.DensifyOptions{Fill: -7, Masks: "m"})
		l := must(loader.New(must(loader.From(td)), opt))
		for range 2 {
			for batch, err := range l.Batches(t.Context()) {
				require.NoError(t, err)
				rows := rowsOf(t, batch)
				codes, mask := must(batch.Tensor("codes")), testkit.Elements[bool](t, must(batch.Tensor("m/codes")))
				width := codes.Shape()[1]
				for i, v := range testkit.Elements[int64](t, codes) {
					row, there := rows[i/width], i%width < rows[i/width]%3
					require.Equal(t, there, mask[i])
					if !there {
						row = -7
					}
					require.Equal(t, int64(row), v)
				}
			}
		}
	}
}

// TestTransformAfterPad: a Standard of ragged leaves, read back from data, applies to the batches
// that Pad makes of them. Values come out as of the ragged leaves; padding is 0 if it was NaN.
func TestTransformAfterPad(t *testing.T) {
	td := labs(t)
	stats := must(transform.StandardFrom(must(must(transform.FitStandard(td, nil)).Data())))
	want := must(stats.Apply(td, transform.Draw{}))
	for _, left := range []bool{false, true} {
		for _, opt := range []loader.Options{{}, {Workers: 2}, {Poison: true}, {Own: true}} {
			opt.Batch, opt.Sampler = 5, sampler.Random()
			opt.Collate = loader.Pad(ragged.DensifyOptions{Left: left, Masks: "m"})
			opt.Transform = stats
			eachBatch(t, opt, td, want, func(batch, want *tdict.TensorDict) {
				requireRagged(t, want, batch, "labs", "m/labs")
				requireRagged(t, want, batch, "deep/labs", "m/deep/labs/1", "m/deep/labs/2")
			})

			opt.Collate = loader.Pad(ragged.DensifyOptions{Left: left, Fill: math.NaN()})
			opt.Transform = transform.Compose(stats, transform.FillNaN(0))
			eachBatch(t, opt, td, want, func(batch, want *tdict.TensorDict) {
				padded := must(loader.Pad(ragged.DensifyOptions{Left: left})(want, nil))
				require.Empty(t, must(padded.Diff(batch)))
			})
		}
	}
}

// labs returns 12 rows with ragged leaves "labs" [12 * 2] and "deep/labs" [12 * * 2].
func labs(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td, values := tdict.New(12), make([]float32, 2*30)
	for i := range values {
		values[i] = float32(i*i%17) + 1
	}
	x, inner := must(tensor.From(values, 30, 2)), slices.Repeat([]int64{2, 0, 1}, 10)
	require.NoError(t, td.Set("row", must(tensor.Arange[int64](0, 12, 1))))
	require.NoError(t, td.Set("labs", must(ragged.FromLengths(x, []int64{3, 0, 5, 1, 2, 4, 0, 6, 2, 1, 3, 3}))))
	require.NoError(t, td.Set("deep/labs", must(ragged.FromLengths(x, slices.Repeat([]int64{0, 3, 2, 5}, 3), inner))))
	return td
}

// eachBatch calls fn with each batch of an epoch of td, and the same rows of want.
func eachBatch(t testing.TB, opt loader.Options, td, want *tdict.TensorDict, fn func(batch, want *tdict.TensorDict)) {
	t.Helper()
	l := must(loader.New(must(loader.From(td)), opt))
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		fn(batch, must(want.Index(ix.Take(rowsOf(t, batch)...))))
	}
}

// requireRagged fails the test unless a padded leaf has, under its masks, the rows of want.
func requireRagged(t testing.TB, want, batch *tdict.TensorDict, key nestedkey.Key, masks ...nestedkey.Key) {
	t.Helper()
	var at []*tensor.Tensor
	for _, mask := range masks {
		at = append(at, must(batch.Tensor(mask)))
	}
	got := must(ragged.FromMasks(must(batch.Tensor(key)), at...))
	require.Empty(t, must(must(tdict.Get[*ragged.Tensor](want, key)).Diff(got)))
}

// Batches that own their memory keep what they have.
func TestPadOwned(t *testing.T) {
	l := must(loader.New(must(loader.From(kinds(t, 0, 12))), loader.Options{Batch: 3, Own: true, Collate: loader.Pad(ragged.DensifyOptions{})}))
	var kept, copies []*tdict.TensorDict
	for batch, err := range l.Batches(t.Context()) {
		require.NoError(t, err)
		kept, copies = append(kept, batch), append(copies, must(batch.Clone()))
	}
	for i := range kept {
		require.True(t, kept[i].Equal(copies[i]), i)
	}
}

// A Collate may do without Memory.
func TestPadWithoutMemory(t *testing.T) {
	out := must(loader.Pad(ragged.DensifyOptions{})(uneven(t), nil))
	require.Equal(t, []int64{1, 2, 0, 0, 0, 0, 3, 4, 5}, must(tdict.Slice[int64](out, "x")))
	var m loader.Memory
	require.Same(t, m.Buffer("x"), m.Buffer("x"))
	require.NotSame(t, m.Buffer("x"), m.Buffer("y"))
}

func TestPadRefuses(t *testing.T) {
	pad := func(opt ragged.DensifyOptions, change ...func(td *tdict.TensorDict) error) func() error {
		return func() error {
			td := uneven(t)
			for _, fn := range change {
				require.NoError(t, fn(td))
			}
			return testkit.Err(loader.Pad(opt)(td, nil))
		}
	}
	set := func(key nestedkey.Key) func(td *tdict.TensorDict) error {
		return func(td *tdict.TensorDict) error { return td.Set(key, tensor.Vector[int64](1, 2, 3)) }
	}
	collate := func(fn loader.Collate) func() error {
		return func() error {
			l := must(loader.New(must(loader.From(uneven(t))), loader.Options{Batch: 3, Collate: fn}))
			for _, err := range l.Batches(context.Background()) {
				return err
			}
			return nil
		}
	}
	mine := errors.New("mine")
	tests := []struct {
		name string
		op   func() error
		is   error
	}{
		{"a key that is missing", collate(loader.Pad(ragged.DensifyOptions{}, "no")), tdict.ErrMissing},
		{"a key of a dense leaf", collate(loader.Pad(ragged.DensifyOptions{}, "row")), tdict.ErrKind},
		{"a fill that the dtype does not have", pad(ragged.DensifyOptions{Fill: 0.5}), tensor.ErrDType},
		{"rows that are listed", pad(ragged.DensifyOptions{Rows: []int{0, 1, 2}}), shapeops.ErrShape},
		{"a negative width", pad(ragged.DensifyOptions{Widths: []int{-1}}), shapeops.ErrShape},
		{"a mask where there is something", pad(ragged.DensifyOptions{Masks: "m"}, set("m/x")), tdict.ErrExists},
		{"a mask where there is something, at a level", pad(ragged.DensifyOptions{Masks: "m"}, set("m/deep/y/2")), tdict.ErrExists},
		{"masks within a leaf", pad(ragged.DensifyOptions{Masks: "row"}), tdict.ErrNotDict},
		{"a function that fails", collate(func(*tdict.TensorDict, *loader.Memory) (*tdict.TensorDict, error) { return nil, mine }), mine},
		{"a function that panics", collate(func(*tdict.TensorDict, *loader.Memory) (*tdict.TensorDict, error) { panic(mine) }), mine},
		{"a function that returns nothing", collate(func(*tdict.TensorDict, *loader.Memory) (*tdict.TensorDict, error) { return nil, nil }), tdict.ErrKind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.op()) })
	}
}

// wide returns n rows with some leaves.
func wide(t testing.TB, n, leaves int) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(n)
	for i := range leaves {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprint("leaf", i)), must(tensor.Zeros[float32](n, 16))))
	}
	return td
}

// perBatch returns how many allocations a batch costs in steady state: those of 200 batches without
// those of 100 of them.
func perBatch(t testing.TB, opt loader.Options, src func(n int) loader.Source) float64 {
	t.Helper()
	epoch := func(n int) float64 {
		l := must(loader.New(src(n), opt))
		return testing.AllocsPerRun(5, func() {
			for _, err := range l.Batches(context.Background()) {
				require.NoError(t, err)
			}
		})
	}
	return (epoch(200*opt.Batch) - epoch(100*opt.Batch)) / 100
}

// TestAllocations: batches cost headers only, whatever they have.
func TestAllocations(t *testing.T) {
	leaves := func(count int) func(n int) loader.Source {
		return func(n int) loader.Source { return must(loader.From(wide(t, n, count))) }
	}
	concat := func(n int) loader.Source {
		return must(loader.Concat(leaves(1)(n/2), leaves(1)(n/2)))
	}
	zip := func(n int) loader.Source {
		return must(loader.Zip(leaves(1)(n), must(loader.From(rename(t, wide(t, n, 1), "b")))))
	}
	subset := func(n int) loader.Source {
		order := must(sampler.Random().Order(sampler.Epoch{Units: n}))
		return must(loader.Subset(leaves(1)(n), order.AppendTo(nil, 0, n)))
	}
	lists := func(n int) loader.Source { return must(loader.From(must(kinds(t, 0, n).Select("codes")))) }
	random := loader.Options{Sampler: sampler.Random()}
	padded := loader.Options{Sampler: sampler.Random(), Collate: loader.Pad(ragged.DensifyOptions{Masks: "m"})}
	tests := []struct {
		name   string
		src    func(n int) loader.Source
		opt    loader.Options
		allocs float64 // a batch, at most
	}{
		{"views of 1 leaf", leaves(1), loader.Options{}, 6},
		{"views of 10 leaves", leaves(10), loader.Options{}, 6},
		{"rows of 1 leaf", leaves(1), random, 10},
		{"rows of 10 leaves", leaves(10), random, 17},
		{"rows of a subset", subset, random, 11},
		{"rows of two parts", concat, random, 58},
		{"rows side by side", zip, random, 43},
		{"rows padded, with a mask", lists, padded, 131},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opt.Batch = 8
			require.LessOrEqual(t, perBatch(t, tt.opt, tt.src), tt.allocs+0.5)
		})
	}
}

// TestBytes: the elements of batches lie in the same memory again and again, also where they are
// padded. An epoch allocates less than a quarter of what its batches have.
func TestBytes(t *testing.T) {
	const rows, batch, size = 400, 8, 4096
	dense, lists := tdict.New(rows), tdict.New(rows)
	require.NoError(t, dense.Set("x", must(tensor.Zeros[int64](rows, size))))
	values := must(tensor.Zeros[int64](rows * size))
	require.NoError(t, lists.Set("x", must(ragged.FromLengths(values, repeat(int64(size), rows)))))
	tests := []struct {
		name string
		td   *tdict.TensorDict
		opt  loader.Options
	}{
		{"dense", dense, loader.Options{}},
		{"ragged", lists, loader.Options{}},
		{"padded", lists, loader.Options{Collate: loader.Pad(ragged.DensifyOptions{Masks: "m"})}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.opt.Batch, tt.opt.Sampler = batch, sampler.Random()
			l := must(loader.New(must(loader.From(tt.td)), tt.opt))
			epoch := func() {
				for _, err := range l.Batches(context.Background()) {
					require.NoError(t, err)
				}
			}
			epoch() // makes the memory
			testkit.MaxBytes(t, rows*size*8/4, epoch)
		})
	}
}

// What was padded is poisoned, too, with its masks.
func TestPaddedIsPoisoned(t *testing.T) {
	for _, own := range []bool{false, true} {
		td := tdict.New(4)
		require.NoError(t, td.Set("codes", must(ragged.From[int64]([][]int64{{1}, {2, 3}, {}, {4}}))))
		l := must(loader.New(must(loader.From(td)), loader.Options{
			Batch: 2, Collate: loader.Pad(ragged.DensifyOptions{Masks: "masks"}), Poison: true, Own: own,
		}))
		var kept *tdict.TensorDict
		for batch, err := range l.Batches(t.Context()) {
			require.NoError(t, err)
			if kept == nil {
				kept = batch
			}
		}
		codes, masks := must(tdict.Slice[int64](kept, "codes")), must(tdict.Slice[bool](kept, "masks/codes"))
		if own {
			require.Equal(t, []int64{1, 0, 2, 3}, codes)
			require.Equal(t, []bool{true, false, true, true}, masks)
		} else {
			require.Equal(t, []int64{math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64}, codes)
			require.Equal(t, []bool{true, true, true, true}, masks)
		}
	}
}
