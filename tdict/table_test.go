package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A twin is a dictionary and the list of what is in it.
type twin struct {
	td   *tdict.TensorDict
	list []entry
}

func (w *twin) find(key nestedkey.Key) int {
	return slices.IndexFunc(w.list, func(e entry) bool { return e.key == key })
}

// check compares the two by order and by name.
func (w *twin) check(t *testing.T, about string) {
	t.Helper()
	got := []entry{}
	for name, v := range w.td.All() {
		got = append(got, entry{name, v})
	}
	require.Len(t, got, len(w.list), about)
	for i, e := range w.list {
		require.Equal(t, e.key, got[i].key, about)
		require.True(t, e.value == got[i].value, about)
	}
	require.Equal(t, len(w.list), w.td.NumEntries(), about)
	for i := range 60 {
		key := nestedkey.Of(fmt.Sprint("k", i))
		v, err := w.td.Get(key)
		at := w.find(key)
		require.Equal(t, at >= 0, err == nil, "%s: %s", about, key)
		require.True(t, at < 0 || v == w.list[at].value, "%s: %s", about, key)
	}
	require.False(t, w.td.Has("\xff"), "a gap is no key")
}

// step does something random to both, mostly to the front or the back.
func (w *twin) step(t *testing.T, g *rand.Rand, growing bool) string {
	key := nestedkey.Of(fmt.Sprint("k", g.IntN(60)))
	old := nestedkey.Key("none")
	if n := len(w.list); n > 0 {
		old = w.list[[]int{0, n - 1, g.IntN(n)}[g.IntN(3)]].key
	}
	at, from := w.find(key), w.find(old)
	switch n := g.IntN(6); {
	case n == 0 && from >= 0 && at < 0:
		require.NoError(t, w.td.Rename(old, key))
		w.list[from].key = key
	case n == 1 && from >= 0 && at >= 0 && from != at:
		require.NoError(t, w.td.RenameOver(old, key))
		w.list[at].value = w.list[from].value
		w.list = slices.Delete(w.list, from, from+1)
	case growing && n > 2 || !growing && n == 2:
		v := tensor.Scalar(g.Float64())
		require.NoError(t, w.td.Set(key, v))
		if at >= 0 {
			w.list[at].value = v
		} else {
			w.list = append(w.list, entry{key, v})
		}
	default:
		require.Equal(t, from >= 0, w.td.Delete(old) == nil)
		if from >= 0 {
			w.list = slices.Delete(w.list, from, from+1)
		}
	}
	return fmt.Sprintf("%s %s", old, key)
}

// TestTableModel grows and shrinks dictionaries that were copied from one another, and so share a
// table of names, entry by entry: each keeps its own names in its own order.
func TestTableModel(t *testing.T) {
	for seed := range uint64(25) {
		g := rand.New(rand.NewPCG(seed, 4))
		twins := []*twin{{tdict.New(), nil}}
		for i := range 300 {
			w := twins[g.IntN(len(twins))]
			about := fmt.Sprintf("seed %d, step %d: %s", seed, i, w.step(t, g, i/60%2 == 0))
			if g.IntN(20) == 0 {
				c := &twin{w.td.Copy(), slices.Clone(w.list)}
				if len(twins) < 4 {
					twins = append(twins, c)
				} else {
					twins[g.IntN(4)] = c
				}
			}
			for _, other := range twins {
				if other == w || i%10 == 0 {
					other.check(t, about)
				}
			}
		}
	}
}
