package loader_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestIntoMemoryThatCannotBeWritten: memory that is read-only, closed, or whose rows lie over each
// other is an error, and nothing is written.
func TestIntoMemoryThatCannotBeWritten(t *testing.T) {
	like := dense(t, 0, 8)
	closed := must(memmap.Create(t.TempDir()+"/m", like, memmap.CreateOptions{}))
	require.NoError(t, closed.Close())
	one := must(dense(t, 0, 1).Index(ix.At(0)))
	wide := must(one.Expand(8))
	for _, tt := range []struct {
		name string
		into *tdict.TensorDict
		is   error
	}{
		{"read-only", open(t, like).TensorDict, tensor.ErrReadOnly},
		{"closed", closed.TensorDict, memmap.ErrClosed},
		{"expanded", wide, tensor.ErrLayout},
		{"zero", &tdict.TensorDict{}, shapeops.ErrDim},
	} {
		for _, s := range []sampler.Sampler{nil, sampler.Random()} {
			for _, workers := range []int{0, 3} {
				t.Run(fmt.Sprint(tt.name, s, workers), func(t *testing.T) {
					noLeak(t)
					l := must(loader.New(must(loader.From(dense(t, 100, 8))), loader.Options{Batch: 4, Sampler: s, Workers: workers, Into: give(tt.into)}))
					_, err := untilError(l)
					require.ErrorIs(t, err, tt.is)
				})
			}
		}
	}
}

// TestIntoMemoryNextToTheSource: memory and source are parts of one allocation. The rows are copied
// all the same.
func TestIntoMemoryNextToTheSource(t *testing.T) {
	td := dense(t, 0, 16)
	src := must(loader.From(must(td.Index(ix.Range(0, 12)))))
	want := all(t, must(loader.New(src, loader.Options{Batch: 4})), 1)
	l := must(loader.New(src, loader.Options{Batch: 4, Into: give(must(td.Index(ix.Range(12, 16))))}))
	require.Equal(t, want, all(t, l, 1))
}

// TestIntoMemoryClosedMeanwhile closes the memory in the middle of an epoch.
func TestIntoMemoryClosedMeanwhile(t *testing.T) {
	for _, workers := range []int{0, 3} {
		noLeak(t)
		var mem []*memmap.Dataset
		for i := range 5 {
			mem = append(mem, must(memmap.Create(fmt.Sprint(t.TempDir(), "/", i), dense(t, 0, 4), memmap.CreateOptions{})))
		}
		i := 0
		l := must(loader.New(must(loader.From(dense(t, 0, 400))), loader.Options{Batch: 4, Sampler: sampler.Random(), Workers: workers, Into: func(context.Context) (*tdict.TensorDict, error) {
			i++
			return mem[i%5].TensorDict, nil
		}}))
		var failed error
		n := 0
		for _, err := range l.Batches(t.Context()) {
			if n++; n == 20 {
				for _, ds := range mem {
					require.NoError(t, ds.Close())
				}
			}
			failed = err
		}
		require.ErrorIs(t, failed, memmap.ErrClosed)
	}
}

// TestIntoPanics: an Into that panics is an error, also when workers wait for their turn.
func TestIntoPanics(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		noLeak(t)
		n := 0
		l := must(loader.New(must(loader.From(dense(t, 0, 40))), loader.Options{Batch: 4, Workers: workers, Into: func(context.Context) (*tdict.TensorDict, error) {
			if n++; n == 3 {
				time.Sleep(time.Millisecond)
				panic("mine")
			}
			return dense(t, 0, 4), nil
		}}))
		got, err := untilError(l)
		require.ErrorAs(t, err, new(*tdict.PanicError))
		require.Equal(t, 2, got)
	}
}
