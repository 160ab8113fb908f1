package transform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// pipelineOf returns a pipeline with steps of each kind, fitted on images.
func pipelineOf(t testing.TB, all *tdict.TensorDict) transform.Transform {
	t.Helper()
	noise := transform.Random("noise", func(td *tdict.TensorDict, d transform.Draw) (*tdict.TensorDict, error) {
		gain := make([]float32, td.Shape()[0])
		if err := d.Each(td, func(i int, r *rand.Rand) { gain[i] = float32(r.NormFloat64()) }); err != nil {
			return nil, err
		}
		return arith.Mul(td, tensor.Vector(gain...))
	})
	return transform.Compose(
		tensor.Must(transform.FitStandard(all, nil)),
		transform.OnKeys(transform.RandomCrop(5, 6), "image", "mask", "obs/depth"),
		transform.OnKeys(transform.Compose(transform.RandomFlip(0.5, 0), transform.RandomFlip(0.3, 1)), "image", "mask"),
		transform.OnKeys(transform.Compose(noise, transform.FillNaN(0), noise), "obs"),
		transform.OnKeys(transform.OneHot(4, tensor.Float32), "label"),
		transform.OnKeys(transform.CastScale(tensor.Float16, 1./255, 0), "image"),
	)
}

// rowsOf applies a pipeline to batches of the given rows of a dataset, and returns the rows in the
// order of the dataset.
func rowsOf(t testing.TB, p transform.Transform, all *tdict.TensorDict, rows []int, size, workers int, d transform.Draw) *tdict.TensorDict {
	t.Helper()
	batches := slices.Collect(slices.Chunk(rows, size))
	outs := make([]*tdict.TensorDict, len(batches))
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				d := d
				d.Rows = batches[i]
				outs[i] = tensor.Must(p.Apply(tensor.Must(all.Index(ix.Take(batches[i]...))), d))
			}
		})
	}
	for i := range batches {
		next <- i
	}
	close(next)
	wg.Wait()
	back := make([]int, len(rows))
	for i, row := range rows {
		back[row] = i
	}
	return tensor.Must(tensor.Must(shapeops.Cat(outs, 0)).Index(ix.Take(back...)))
}

// TestRowsDoNotDependOnTheBatch is the promise of the package: a row is the same whatever else is
// in its batch, in whatever order, and however many goroutines there are.
func TestRowsDoNotDependOnTheBatch(t *testing.T) {
	const n = 60
	all := images(t, n)
	p := pipelineOf(t, all)
	draw := transform.Draw{Seed: 3, Epoch: 5}
	want := apply(t, p, all, draw)
	for _, size := range []int{1, 7, 32, n} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("size=%d/workers=%d", size, workers), func(t *testing.T) {
				order := rand.New(rand.NewPCG(uint64(size), 0)).Perm(n)
				if diff := tensor.Must(want.Diff(rowsOf(t, p, all, order, size, workers, draw))); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestEpochsAndSeedsDiffer: what does not depend on the batch depends on these.
func TestEpochsAndSeedsDiffer(t *testing.T) {
	all := images(t, 20)
	p := pipelineOf(t, all)
	var seen []*tensor.Tensor
	for _, d := range []transform.Draw{{}, {Seed: 1}, {Epoch: 1}} {
		out := apply(t, p, all, d)
		require.True(t, out.Equal(apply(t, p, all, d)), "applied twice")
		image := tensor.Must(out.Tensor("image"))
		for _, other := range seen {
			require.False(t, image.Equal(other))
		}
		seen = append(seen, image)
	}
}

// TestStepsDrawIndependently: a step draws other numbers in another place.
func TestStepsDrawIndependently(t *testing.T) {
	td := tensor.Must(images(t, 200).Select("image"))
	nothing := transform.Func("nothing", func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return td, nil })
	flip := transform.RandomFlip(0.5, 0)
	of := func(ts ...transform.Transform) *tdict.TensorDict {
		return apply(t, transform.Compose(ts...), td, transform.Draw{})
	}
	require.False(t, of(flip, flip).Equal(td), "both flipped the same rows")
	require.False(t, of(flip, nothing).Equal(of(nothing, flip)))
	require.True(t, of(flip).Equal(of(transform.Compose(flip))), "a Compose in a Compose is its steps")
	require.True(t, of(flip).Equal(of(transform.OnKeys(flip, "image"))), "keys are no place")
}

// TestConcurrentUse is for the race detector: one pipeline, one batch, many goroutines.
func TestConcurrentUse(t *testing.T) {
	all := images(t, 30)
	p := pipelineOf(t, all)
	want := apply(t, p, all, transform.Draw{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			out, err := p.Apply(all, transform.Draw{})
			if err != nil || !out.Equal(want) || p.String() == "" {
				t.Error("differs", err)
			}
		})
	}
	wg.Wait()
}

// TestComposeOfComposes: one among the steps counts as its steps, so that adding a step changes no
// draws.
func TestComposeOfComposes(t *testing.T) {
	draws := func(name string) transform.Transform {
		return transform.Random(name, func(td *tdict.TensorDict, d transform.Draw) (*tdict.TensorDict, error) {
			out := make([]float64, td.Shape()[0])
			if err := d.Each(td, func(i int, r *rand.Rand) { out[i] = r.Float64() }); err != nil {
				return nil, err
			}
			return td, td.Set(nestedkey.Key(name), tensor.Vector(out...))
		})
	}
	td, d := tdict.New(3), transform.Draw{Seed: 4}
	pipe := transform.Compose(draws("a"), draws("b"))
	want := tensor.Must(pipe.Apply(td, d))
	require.True(t, tensor.Must(transform.Compose(pipe).Apply(td, d)).Equal(want))
	more := transform.Compose(pipe, draws("c"))
	got := tensor.Must(more.Apply(td, d))
	require.True(t, tensor.Must(got.Select("a", "b")).Equal(want))
	require.Equal(t, "compose\n  a\n  b\n  c", more.String())
}
