package loader_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestStateIsPlain: this form is kept by others, beside their checkpoints.
func TestStateIsPlain(t *testing.T) {
	l := must(loader.New(numbered(t, 100), loader.Options{Batch: 8, Sampler: sampler.Random(), Seed: 1<<63 + 1, Dataset: "v2"}))
	require.NoError(t, l.Seek(3, 7))
	require.JSONEq(t, `{"version": 1, "dataset": "v2", "rows": 100, "row_bytes": 8, "schema": "752b4d439731605c", "sampler": "random",
		"batching": "batches of 8 rows", "seed": 9223372036854775809, "epoch": 3, "batch": 7}`, string(must(json.Marshal(l.State()))))
}

// TestRestoreTakesTheSeed: a loader that was made with another one goes on as the first.
func TestRestoreTakesTheSeed(t *testing.T) {
	first := must(loader.New(numbered(t, 30), loader.Options{Batch: 8, Sampler: sampler.Random(), Seed: 1}))
	require.NoError(t, first.Seek(2, 1))
	second := must(loader.New(numbered(t, 30), loader.Options{Batch: 8, Sampler: sampler.Random(), Seed: 2, Workers: 3}))
	require.NoError(t, second.Restore(first.State()))
	require.Equal(t, first.State(), second.State())
	require.Equal(t, epoch(t, first), epoch(t, second))
}

func TestBadStates(t *testing.T) {
	floats := tdict.New(100)
	require.NoError(t, floats.Set("row", tensor.Must(tensor.Zeros[float32](100))))
	opt := loader.Options{Batch: 8, Sampler: sampler.Random(), Dataset: "v1"}
	state := func(change func(s *loader.State)) loader.State {
		s := must(loader.New(numbered(t, 100), opt)).State()
		change(&s)
		return s
	}
	tests := []struct {
		name  string
		state loader.State
	}{
		{"none", loader.State{}},
		{"of another version", state(func(s *loader.State) { s.Version = 2 })},
		{"of other data", state(func(s *loader.State) { s.Dataset = "v0" })},
		{"of more rows, in an epoch", state(func(s *loader.State) { s.Rows, s.Batch = 101, 1 })},
		{"of rows of another dtype", must(loader.New(must(loader.From(floats)), opt)).State()},
		{"of another sampler", state(func(s *loader.State) { s.Sampler = "sequential" })},
		{"of batches of another size", state(func(s *loader.State) { s.Batching = "batches of 9 rows" })},
		{"before the first batch", state(func(s *loader.State) { s.Batch = -1 })},
		{"after the last batch", state(func(s *loader.State) { s.Batch = 14 })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := must(loader.New(numbered(t, 100), opt))
			require.NoError(t, l.Seek(1, 13))
			was := l.State()
			testkit.Fails(t, loader.ErrState, l.Restore(tt.state))
			require.Equal(t, was, l.State())
		})
	}
	l := must(loader.New(numbered(t, 100), opt))
	testkit.Fails(t, loader.ErrSeek, l.Seek(0, 14))
}

// TestAtTheEndOfAnEpoch: nothing is left of it, and then the next comes.
func TestAtTheEndOfAnEpoch(t *testing.T) {
	l := must(loader.New(numbered(t, 20), loader.Options{Batch: 8}))
	require.NoError(t, l.Seek(0, 3))
	require.Zero(t, l.Left())
	require.Empty(t, epoch(t, l))
	require.Equal(t, uint64(1), l.Epoch())
	require.Len(t, epoch(t, l), 3)
}

// TestResumeIsQuick: nothing is loaded to be passed over, and the order of many rows takes no
// memory.
func TestResumeIsQuick(t *testing.T) {
	src := must(loader.FromFunc(100_000_000, nothing))
	for _, s := range []sampler.Sampler{sampler.Sequential(), sampler.Random()} {
		l := must(loader.New(src, loader.Options{Batch: 64, Sampler: s}))
		testkit.MaxBytes(t, 1<<16, func() { require.NoError(t, l.Seek(5, l.Len()-3)) })
		require.Equal(t, 3, l.Left())
	}
}

// versioned is a source that is one of several in time.
type versioned struct {
	loader.Source
	version string
}

func (v versioned) Describe() (loader.Description, error) {
	return loader.Description{Version: v.version}, nil
}

// TestStateOfAVersion: a state says which of several sources in time it is of, also where that is a
// part of others.
func TestStateOfAVersion(t *testing.T) {
	source := func(version string) loader.Source { return versioned{numbered(t, 10), version} }
	tests := []struct {
		name string
		make func(version string) loader.Source
		want string
	}{
		{"by itself", source, "a/1"},
		{"a subset", func(v string) loader.Source { return must(loader.Subset(source(v), []int{1, 2, 3})) }, "a/1"},
		{"one after another", func(v string) loader.Source { return must(loader.Concat(numbered(t, 3), source(v))) }, " + a/1"},
		{"beside another", func(v string) loader.Source {
			beside := must(tdict.FromMap(shapeops.Shape{10}, tdict.Entries{"beside": tensor.Vector(make([]int64, 10)...)}))
			return must(loader.Zip(must(loader.From(beside)), source(v)))
		}, " + a/1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := must(loader.New(tt.make("a/1"), loader.Options{Batch: 2}))
			require.Equal(t, tt.want, l.State().Source)
			require.NoError(t, must(loader.New(tt.make("a/2"), loader.Options{Batch: 2})).Restore(l.State()), "between epochs")
			require.NoError(t, l.Seek(0, 1))
			require.NoError(t, must(loader.New(tt.make("a/1"), loader.Options{Batch: 2})).Restore(l.State()))
			require.ErrorIs(t, must(loader.New(tt.make("a/2"), loader.Options{Batch: 2})).Restore(l.State()), loader.ErrState)
		})
	}
}
