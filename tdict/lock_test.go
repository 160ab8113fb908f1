package tdict_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestLockOfSharedEntry(t *testing.T) {
	child := dict(nil, entry{"low", tdict.New()})
	a, b := dict(nil, entry{"x", child}, entry{"y", child}), dict(nil, entry{"z", child})
	low := tensor.Must(child.Dict("low"))
	a.Lock()
	b.Lock()
	require.NoError(t, a.Unlock())
	require.True(t, child.Locked() && low.Locked(), "the other one still holds it")
	require.ErrorIs(t, child.Unlock(), tdict.ErrLocked)
	require.NoError(t, a.Delete("x"), "the dictionary around it is free")
	require.NoError(t, b.Unlock())
	require.False(t, child.Locked() || low.Locked())
}

// TestLockGraphs locks and unlocks dictionaries that hold one another in random ways. An entry of a
// locked dictionary is locked, can be unlocked by way of that one only, and no lock outlives the
// dictionaries that it came from.
func TestLockGraphs(t *testing.T) {
	for seed := range uint64(300) {
		g := rand.New(rand.NewPCG(seed, 2))
		nodes := make([]*tdict.TensorDict, 6)
		holders := make([][]*tdict.TensorDict, len(nodes))
		for i := range nodes {
			nodes[i] = tdict.New()
			for j := range 2 * i {
				if g.IntN(3) == 0 {
					require.NoError(t, nodes[j/2].Set(nestedkey.Of(fmt.Sprint(i, j)), nodes[i]))
					holders[i] = append(holders[i], nodes[j/2])
				}
			}
		}
		held := func(i int) (is bool) {
			for _, h := range holders[i] {
				is = is || h.Locked()
			}
			return is
		}
		for range 30 {
			i := g.IntN(len(nodes))
			if g.IntN(2) == 0 {
				nodes[i].Lock()
				require.True(t, nodes[i].Locked())
			} else if refused := held(i); true {
				err := nodes[i].Unlock()
				require.Equal(t, refused, errors.Is(err, tdict.ErrLocked), err)
				require.Equal(t, refused, nodes[i].Locked())
			}
			for i := range nodes {
				require.True(t, !held(i) || nodes[i].Locked(), "an entry of a locked dictionary")
			}
		}
		for i := range nodes { // holders come before what they hold
			require.NoError(t, nodes[i].Unlock(), "seed %d", seed)
		}
		for i := range nodes {
			require.False(t, nodes[i].Locked(), "seed %d", seed)
		}
	}
}

// TestConcurrentReaders reads one dictionary on many goroutines, each of which edits what it gets:
// the race detector watches the table of names that they share.
func TestConcurrentReaders(t *testing.T) {
	edit := func(td *tdict.TensorDict, err error) error {
		if err != nil {
			return err
		}
		d, err := td.Dict("d")
		if err != nil {
			d = td
		}
		return errors.Join(td.Set("new", tdict.New(td.Shape()...)), td.Rename("new", "newer"), d.Set("x/y", tdict.New(d.Shape()...)))
	}
	readers := map[string]func(td *tdict.TensorDict) error{
		"get":          func(td *tdict.TensorDict) error { return testkit.Err(td.Tensor("d/k3")) },
		"index view":   func(td *tdict.TensorDict) error { return edit(td.Index(ix.Range(1, 3))) },
		"index take":   func(td *tdict.TensorDict) error { return edit(td.Index(ix.Take(2, 0))) },
		"permute":      func(td *tdict.TensorDict) error { return edit(td.Permute(0)) },
		"select":       func(td *tdict.TensorDict) error { return edit(td.Select("d", "k1")) },
		"exclude":      func(td *tdict.TensorDict) error { return edit(td.Exclude("d/k0", "k1"), nil) },
		"flatten keys": func(td *tdict.TensorDict) error { return edit(td.FlattenKeys(".")) },
		"clone":        func(td *tdict.TensorDict) error { return edit(td.Clone()) },
		"update":       func(td *tdict.TensorDict) error { return tdict.New(3).Update(td) },
		"print":        func(td *tdict.TensorDict) error { _ = fmt.Sprintf("%+v", td); return nil },
		"equal":        func(td *tdict.TensorDict) error { _ = td.Equal(td); return nil },
		"leaves": func(td *tdict.TensorDict) error {
			for _, leaf := range td.Leaves() {
				_ = leaf.Shape()
			}
			return nil
		},
		"apply": func(td *tdict.TensorDict) error {
			return edit(td.Apply(func(_ nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) { return x.Clone() }))
		},
	}
	for _, locked := range []bool{false, true} {
		td := tdict.New(3)
		for i := range 10 { // the names of td itself are found by a map, those of "d" are not
			require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint("k", i)), count(3, 2)))
			require.NoError(t, td.Set(nestedkey.Of("d", fmt.Sprint("k", i%4)), count(3)))
		}
		if locked {
			td.Lock()
		}
		before := state(t, td)
		var wg sync.WaitGroup
		for name, read := range readers {
			for range 4 {
				wg.Go(func() {
					for range 20 {
						if err := read(td); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
				})
			}
		}
		wg.Wait()
		require.Equal(t, before, state(t, td))
	}
}

// Whoever changes what is locked is told why, wherever below.
func TestLockSaysWhy(t *testing.T) {
	type dictionary = *tdict.TensorDict
	tests := []struct {
		name string
		lock func(td, inner dictionary)
		want string // the text for a/b, of which inner is
	}{
		{"without a reason", func(td, _ dictionary) { td.Lock() }, "locked"},
		{"with one", func(td, _ dictionary) { td.Lock("on disk") }, "locked: on disk"},
		{"after Lock", func(td, _ dictionary) { td.Lock(); td.Lock("on disk") }, "locked: on disk"},
		{"before Lock", func(td, _ dictionary) { td.Lock("on disk"); td.Lock() }, "locked: on disk"},
		{"of its own, too", func(td, inner dictionary) { inner.Lock("mine"); td.Lock("on disk") }, "locked: mine"},
		{"of its own, afterwards", func(td, inner dictionary) { td.Lock("on disk"); inner.Lock("mine") }, "locked: mine"},
		{"of its own without a reason", func(td, inner dictionary) { inner.Lock(); td.Lock("on disk") }, "locked: on disk"},
		{"a new one", func(td, _ dictionary) {
			td.Lock("old")
			require.NoError(t, td.Unlock())
			td.Lock("new")
		}, "locked: new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := dict(nil, entry{"a/b/c", count(1)})
			inner := tensor.Must(td.Dict("a/b"))
			tt.lock(td, inner)
			for op, err := range map[string]error{
				"set": td.Set("a/b/x", count(1)), "delete": td.Delete("a/b/c"), "rename": td.Rename("a/b/c", "a/b/d"),
				"update": td.Update(dict(nil, entry{"a/b/c", count(1)})), "set within": inner.Set("x", count(1)),
				"create": td.SetIndexWith(dict(nil, entry{"a/b/x", count(1)}), create),
			} {
				require.ErrorIs(t, err, tdict.ErrLocked, op)
				require.Contains(t, err.Error(), ": "+tt.want, op)
			}
			require.NoError(t, td.Unlock())
			require.NoError(t, td.Set("a/b/x", count(1)), "nothing is left of the lock")
		})
	}
}
