package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A script is numbers that say what a test does; 0 when they are used up.
type script []byte

func (s *script) next(n int) int {
	if len(*s) == 0 {
		return 0
	}
	b := int((*s)[0])
	*s = (*s)[1:]
	return b % n
}

// scriptRows makes rows of ragged leaves of any depth and features, of which some share a layout.
type scriptRows struct {
	*script
	inner  []int // of the batch shape, behind the rows
	depths []int
	shared []bool
}

func newScriptRows(s *script) *scriptRows {
	r := &scriptRows{script: s, inner: [][]int{nil, {2}, {0}}[s.next(3)]}
	for range 1 + s.next(4) {
		r.depths, r.shared = append(r.depths, s.next(4)), append(r.shared, s.next(2) == 0)
	}
	return r
}

// layout returns a layout of three levels.
func (r *scriptRows) layout(t *testing.T, n int) *ragged.Layout {
	batch := append(shapeops.Shape{n}, r.inner...)
	rows := batch.Size()
	var levels [3][]int64
	for level := range levels {
		sum := 0
		for range rows {
			length := r.next(3)
			levels[level] = append(levels[level], int64(length))
			sum += length
		}
		rows = sum
	}
	return layoutOf(t, batch, levels[:]...)
}

// rows returns n rows.
func (r *scriptRows) rows(t *testing.T, n int) *tdict.TensorDict {
	td := tdict.New(n)
	common := r.layout(t, n)
	for i, depth := range r.depths {
		l := common
		if !r.shared[i] {
			l = r.layout(t, n)
		}
		key := []nestedkey.Key{"a", "in/b", "in/deep/c", "d"}[i]
		features := [][]int{nil, {3}, {0}, {1, 2}}[i]
		require.NoError(t, td.Set(key, rowsOver(t, tensor.Must(l.At(depth)), features...)))
	}
	return td
}

// FuzzWriter runs scripts.
func FuzzWriter(f *testing.F) {
	f.Add([]byte{0, 3, 1, 0, 2, 0, 3, 1, 0, 1, 0, 3, 2, 1, 2, 1, 0, 2, 2, 1, 1, 0, 5, 1, 2, 2, 0, 1, 1, 1, 3, 0, 1, 2, 4, 2, 3, 1})
	f.Add([]byte{2, 2, 1, 0, 2, 1, 0, 0, 1, 1, 3, 3, 2})
	f.Fuzz(func(t *testing.T, numbers []byte) {
		run := script(numbers[:min(len(numbers), 400)]) // a longer one exceeds the 10 s that a fuzzer waits
		run.write(t)
	})
}

// TestWriterAgainstAModel runs scripts of random numbers.
func TestWriterAgainstAModel(t *testing.T) {
	rng := processkit.Random(t)
	for range longtests.Times(10, 150) {
		run := make(script, 20+rng.IntN(300))
		for i := range run {
			run[i] = byte(rng.Uint32())
		}
		run.write(t)
	}
}

// write appends, commits, closes, goes on and finishes as a script says: what can be read is what
// was committed, at each moment.
func (s *script) write(t *testing.T) {
	t.Helper()
	r := newScriptRows(s)
	first := r.rows(t, 1)
	row := tensor.Must(first.Index(ix.At(0)))
	dir := filepath.Join(testkit.TempDir(t), "log")
	next := func() *memmap.Writer {
		w, err := memmap.NewWriter(dir, row, memmap.WriterOptions{NoSync: true, Resume: true})
		require.NoError(t, err)
		return w
	}
	committed, pending := tensor.Must(first.Index(ix.Range(0, 0))), []*tdict.TensorDict{}
	commit := func() {
		committed = tensor.Must(shapeops.Cat(append([]*tdict.TensorDict{committed}, pending...), 0))
		pending = nil
	}
	w := next()
	for len(*s) > 0 {
		switch s.next(6) {
		case 0, 1:
			td := r.rows(t, s.next(4))
			require.NoError(t, w.Append(td))
			pending = append(pending, td)
		case 2:
			td := r.rows(t, 1)
			require.NoError(t, w.Append(tensor.Must(td.Index(ix.At(0)))))
			pending = append(pending, td)
		case 3:
			require.NoError(t, w.Commit())
			commit()
		case 4:
			require.NoError(t, w.Close())
			pending, w = nil, next()
		case 5:
			require.NoError(t, w.Finish())
			commit()
			requireFound(t, dir, committed)
			w = next()
		}
		requireFound(t, dir, committed)
	}
	require.NoError(t, w.Finish())
	commit()
	requireFound(t, dir, committed)
}

// requireFound checks that a directory holds td, with sums that are right.
func requireFound(t *testing.T, dir string, td *tdict.TensorDict) {
	t.Helper()
	ds := open(t, dir)
	requireSame(t, td, ds.TensorDict)
	require.NoError(t, ds.Close())
	requireSound(t, dir)
}
