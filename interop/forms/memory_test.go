package forms_test

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// peak returns how many bytes of the heap fn has in use at a time, sampled.
func peak(fn func()) (most uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(25)) // garbage counts: see testkit.Main
	runtime.GC()
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		var m runtime.MemStats
		for {
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	fn()
	close(stop)
	wait.Wait()
	return most
}

// wide saves n rows of 1 KiB and a number.
func wide(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	proto := tdict.New(n)
	one := tensor.Must(tensor.New(tensor.Float32))
	require.NoError(t, proto.Set("x", tensor.Must(one.Expand(n, 256))))
	id := tensor.Must(tensor.New(tensor.Int64))
	require.NoError(t, proto.Set("id", tensor.Must(id.Expand(n))))
	ds, err := memmap.Create(path, proto, memmap.CreateOptions{NoSync: true, NoSums: true})
	require.NoError(t, err)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	v := tdict.New(n)
	require.NoError(t, v.Set("id", tensor.Vector(ids...)))
	require.NoError(t, ds.UpdateInPlace(v, "id"))
	require.NoError(t, ds.Close())
	return path
}

// half keeps the rows whose numbers are even.
func half(chunk *tdict.TensorDict) (*tensor.Tensor, error) {
	x, err := tdict.Slice[int64](chunk, "id")
	keep := make([]bool, len(x))
	for i := range x {
		keep[i] = x[i]%2 == 0
	}
	return tensor.Vector(keep...), err
}

// TestMemory takes hardly more memory for ten times the rows.
func TestMemory(t *testing.T) {
	if !longtests.On() {
		t.Skip("writes gigabytes: set TENSORDICT_LONG")
	}
	verbs := map[string]func(out, in string) error{
		"keep": func(out, in string) error {
			return forms.Slice(ctx, out, in, forms.SliceOptions{Options: forms.Options{NoSync: true}, Keep: half})
		},
		"step to npz": func(out, in string) error {
			step := ix.Range(0, ix.End).Step(2)
			return forms.Slice(ctx, out+".npz", in, forms.SliceOptions{Options: forms.Options{NoSync: true}, Index: []ix.Index{step}})
		},
		"two to safetensors": func(out, in string) error {
			return forms.Convert(ctx, out+".safetensors", []string{in, in}, forms.Options{NoSync: true})
		},
		"csv": func(out, in string) error {
			return forms.Convert(ctx, out+".csv", []string{in}, forms.Options{NoSync: true})
		},
		"split": func(out, in string) error {
			return forms.Split(ctx, out, in, forms.SplitOptions{Fractions: []float64{0.5, 0.5}, By: "id"})
		},
	}
	small, large := wide(t, 30_000), wide(t, 300_000)
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			var peaks [2]uint64
			for i, in := range []string{small, large} {
				dir := t.TempDir()
				peaks[i] = peak(func() { require.NoError(t, verb(filepath.Join(dir, "out"), in)) })
				require.NoError(t, os.RemoveAll(dir))
			}
			t.Logf("%d MiB, then %d MiB", peaks[0]>>20, peaks[1]>>20)
			const split = 300_000 * 48 // lists of rows and groups
			require.Less(t, peaks[1], peaks[0]+40<<20+split)
		})
	}
}

// TestJoinOfLargeRows joins rows of 1 MiB in less memory than all of them.
func TestJoinOfLargeRows(t *testing.T) {
	const n = 48
	dir := testkit.TempDir(t)
	one := tensor.Must(tensor.New(tensor.Float32))
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	in := filepath.Join(dir, "in")
	rows := tensor.Must(tdict.FromMap(shapeops.Shape{n}, tdict.Entries{"id": tensor.Vector(ids...), "x": tensor.Must(one.Expand(n, 1<<18))}))
	require.NoError(t, memmap.SaveWith(ctx, in, rows, memmap.SaveOptions{NoSync: true}))
	most := peak(func() {
		opt := forms.JoinOptions{Options: forms.Options{NoSync: true}, On: []nestedkey.Key{"id"}}
		require.NoError(t, forms.Join(ctx, filepath.Join(dir, "out"), in, in, opt))
	})
	require.Less(t, most, uint64(48<<20))
}
