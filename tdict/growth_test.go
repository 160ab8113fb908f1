package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var one = tensor.Scalar[int8](1)

// manyLeaves returns a dictionary of so many leaves, and their keys.
func manyLeaves(n int) (*tdict.TensorDict, []nestedkey.Key) {
	td := numbered(nil, n, func(int) *tensor.Tensor { return one })
	return td, slices.Collect(td.Keys())
}

// topDown returns dictionaries nested so deep, each with a leaf, made from the outside in: so they
// may be deeper than Set allows.
func topDown(depth int) *tdict.TensorDict {
	td := tdict.New()
	for d := td; depth > 0; depth-- {
		if err := d.Set("x", one); err != nil {
			panic(err)
		}
		inner := tdict.New()
		if err := d.Set("d", inner); err != nil {
			panic(err)
		}
		d = inner
	}
	return td
}

func shuffled(all []nestedkey.Key) []nestedkey.Key {
	all = slices.Clone(all)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func reversed(all []nestedkey.Key) []nestedkey.Key {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// bulk is what is done to all n entries of a dictionary: prepare returns the operation.
type bulk struct {
	name    string
	prepare func(n int) func() error
}

func deleting(order func([]nestedkey.Key) []nestedkey.Key) func(n int) func() error {
	return func(n int) func() error {
		td, all := manyLeaves(n)
		all = order(all)
		return func() error {
			for _, key := range all {
				if err := td.Delete(key); err != nil {
					return err
				}
			}
			return emptied(td)
		}
	}
}

func emptied(td *tdict.TensorDict) error {
	if n := td.NumEntries(); n != 0 {
		return fmt.Errorf("got %d entries left", n)
	}
	return nil
}

// bulks must each take time and bytes in proportion to n.
var bulks = []bulk{
	{"delete-in-order", deleting(slices.Clone[[]nestedkey.Key])},
	{"delete-backwards", deleting(reversed)},
	{"delete-at-random", deleting(shuffled)},
	{"rename", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error {
			for _, key := range all {
				if err := td.Rename(key, "other"+key); err != nil {
					return err
				}
			}
			return nil
		}
	}},
	{"pop-the-first", func(n int) func() error {
		td, _ := manyLeaves(n)
		return func() error {
			for td.NumEntries() > 0 {
				for key := range td.All() {
					if _, err := td.Pop(key); err != nil {
						return err
					}
					break
				}
			}
			return nil
		}
	}},
	{"pop-and-set", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error {
			for _, key := range slices.Backward(all) {
				if _, err := td.Pop(key); err != nil {
					return err
				}
				if err := td.Set("last", one); err != nil {
					return err
				}
			}
			return nil
		}
	}},
	{"select", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error {
			out, err := td.Select(all[n/2:]...)
			if err == nil && out.NumEntries() != n-n/2 {
				err = fmt.Errorf("got %d entries", out.NumEntries())
			}
			return err
		}
	}},
	{"exclude", func(n int) func() error {
		td, all := manyLeaves(n)
		return func() error { return emptied(td.Exclude(all...)) }
	}},
	{"flatten-keys", func(n int) func() error {
		td := grouped(n)
		return func() error { return testkit.Err(td.FlattenKeys(".")) }
	}},
	{"unflatten-keys", func(n int) func() error {
		td := tensor.Must(grouped(n).FlattenKeys("."))
		return func() error { return testkit.Err(td.UnflattenKeys(".")) }
	}},
	{"update", func(n int) func() error {
		td, _ := manyLeaves(n / 2)
		other, _ := manyLeaves(n)
		return func() error { return td.Update(other) }
	}},
	{"leaves", func(n int) func() error {
		td := grouped(n)
		return func() error {
			for range td.Leaves() {
				continue
			}
			return nil
		}
	}},
}

// grouped returns a dictionary of n leaves in dictionaries of ten, three deep.
func grouped(n int) *tdict.TensorDict {
	td := tdict.New()
	for i := range n {
		key := nestedkey.Of("root", fmt.Sprint("dict", i/10), fmt.Sprint("leaf", i%10))
		if err := td.Set(key, one); err != nil {
			panic(err)
		}
	}
	return td
}

// What is done to all entries of a large dictionary allocates in proportion to them.
func TestManyEntriesAllocateInProportion(t *testing.T) {
	for _, b := range bulks {
		t.Run(b.name, func(t *testing.T) {
			checked := func(n int) func() { run := b.prepare(n); return func() { require.NoError(t, run()) } }
			testkit.Near(t, 30, checked(800), checked(8_000))
		})
	}
}

// walks go through a dictionary at every depth.
var walks = []struct {
	name string
	run  func(td *tdict.TensorDict) int // entries seen
}{
	{"leaves", func(td *tdict.TensorDict) (n int) {
		for range td.Leaves() {
			n++
		}
		return n
	}},
	{"tensors", func(td *tdict.TensorDict) (n int) {
		for range td.Tensors() {
			n++
		}
		return n
	}},
	{"nested-keys", func(td *tdict.TensorDict) (n int) {
		for range td.NestedKeys() {
			n++
		}
		return n / 2
	}},
	{"string", func(td *tdict.TensorDict) int { return strings.Count(fmt.Sprintf("%+v", td), "int8") }},
}

// What is nested deep is walked for the bytes that the keys take by their length.
func TestDeepWalks(t *testing.T) {
	const name = "d/x" // what a level adds to a key
	for _, walk := range walks {
		for _, depth := range []int{4, 40, 256, 4000} {
			if walk.name == "string" {
				depth = min(depth, 1500) // its text grows with the square of the depth: 200 MB at 4000
			}
			td, got := topDown(depth), 0
			bytes := testkit.Allocated(func() { got = walk.run(td) })
			require.Equal(t, depth, got, "%s, %d deep", walk.name, depth)
			if walk.name != "string" {
				require.LessOrEqual(t, bytes, uint64(2*depth*depth*len(name)+8192), "%s, %d deep", walk.name, depth)
			}
		}
	}
}

// chain returns so many dictionaries, each but the last with the next as its entry, with a leaf in
// the last if it is wanted.
func chain(n int, leaf tdict.Value) *tdict.TensorDict {
	td := tdict.New()
	if leaf != nil {
		td = dict(nil, entry{"x", leaf})
	}
	for range n - 1 {
		td = dict(nil, entry{"d", td})
	}
	return td
}

// path returns a key of so many parts.
func path(parts int) nestedkey.Key {
	return nestedkey.Key(strings.TrimSuffix(strings.Repeat("d/", parts), "/"))
}

// Below a dictionary, others may be nested 256 deep, whichever way they come there; a leaf does not
// count.
func TestDepthLimit(t *testing.T) {
	x := count(1)
	tests := []struct {
		name string
		do   func(td *tdict.TensorDict) error
		ok   bool
	}{
		{"a leaf in 256 dictionaries", func(td *tdict.TensorDict) error { return td.Set(path(257), x) }, true},
		{"a leaf in 257", func(td *tdict.TensorDict) error { return td.Set(path(258), x) }, false},
		{"a leaf under parts without a letter", func(td *tdict.TensorDict) error { return td.Set(nestedkey.Key(strings.Repeat("/", 256)), x) }, true},
		{"one part more", func(td *tdict.TensorDict) error { return td.Set(nestedkey.Key(strings.Repeat("/", 257)), x) }, false},
		{"dictionary 256", func(td *tdict.TensorDict) error { return td.Set(path(256), tdict.New()) }, true},
		{"dictionary 257", func(td *tdict.TensorDict) error { return td.Set(path(257), tdict.New()) }, false},
		{"256 as one value", func(td *tdict.TensorDict) error { return td.Set("d", chain(256, x)) }, true},
		{"257 as one value", func(td *tdict.TensorDict) error { return td.Set("d", chain(257, x)) }, false},
		{"128 below 128", func(td *tdict.TensorDict) error { return td.Set(path(129), chain(128, x)) }, true},
		{"129 below 128", func(td *tdict.TensorDict) error { return td.Set(path(129), chain(129, x)) }, false},
		{"update with 256", func(td *tdict.TensorDict) error { return td.Update(dict(nil, entry{"d", chain(256, x)})) }, true},
		{"set index that creates 257", func(td *tdict.TensorDict) error {
			value := chain(200, nil) // grown from within, where the limit counts from there
			if err := tensor.Must(value.Dict(path(199))).Set("d", chain(58, x)); err != nil {
				return err
			}
			return td.SetIndexWith(value, create)
		}, false},
		{"rename to 257", func(td *tdict.TensorDict) error {
			if err := td.Set("v", chain(2, x)); err != nil {
				return err
			}
			err := td.Rename("v", path(256))
			return errorsJoin(err, td.Delete("v"))
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			td := dict(nil, entry{"own", x})
			before := slices.Collect(td.NestedKeys())
			err := tt.do(td)
			if !tt.ok {
				require.ErrorIs(t, err, tdict.ErrDepth)
				require.Equal(t, before, slices.Collect(td.NestedKeys()))
				return
			}
			require.NoError(t, err)
			require.NoError(t, testkit.Err(td.Index()), "what may be set can be worked on")
			require.True(t, tensor.Must(td.Clone()).Equal(td))
			require.NotEmpty(t, td.String())
		})
	}
}

// Dictionaries that are there many times are looked at once: 2^24 ways lead through these 25.
func TestSharedDictionariesAreLookedAtOnce(t *testing.T) {
	leaf := dict(nil, entry{"x", count(1)})
	td := leaf
	for range 24 {
		td = dict(nil, entry{"a", td}, entry{"b", td})
	}
	around := dict(nil, entry{"e/f", td})
	require.ErrorIs(t, leaf.Set("up", around), tdict.ErrCycle)
	around.Lock("in use")
	testkit.Fails(t, tdict.ErrLocked, leaf.Set("y", count(1)))
	require.True(t, tensor.Must(around.Dict("e/f/a/b")).Locked())
	require.NoError(t, around.Unlock())
	testkit.MaxBytes(t, 1<<16, func() { require.NoError(t, tdict.New().Set("x", around)) })
	require.NoError(t, leaf.Set("y", count(1)))
	require.ErrorIs(t, dict(nil).Set(path(240), td), tdict.ErrDepth)
	require.NoError(t, around.Rename("e/f", "g"))
	require.NoError(t, around.Delete("g"))
}

func TestLookingUpAllocatesNothing(t *testing.T) {
	td := wide(10, 3)
	require.NoError(t, td.Set("x/y/z", count(3)))
	for _, key := range []nestedkey.Key{"leaf07", "x/y/z"} {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Get(key) }), "get %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = td.Tensor(key) }), "tensor %s", key)
		require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has(key) }), "has %s", key)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = td.Has("x/y/no") }))
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for range td.All() {
			continue
		}
	}))
}

// Results of many small leaves come from few blocks, however many leaves there are. The numbers are
// ceilings: whoever saves an allocation lowers them.
func TestOperationsAllocateFewBlocks(t *testing.T) {
	take := ix.Take(1, 5, 9, 2, 30, 7, 7, 0)
	for _, leaves := range []int{1, 10, 100} {
		td := wide(leaves, 32)
		nested := dict([]int{32}, entry{"n", wide(leaves, 32)})
		byRange := func(td *tdict.TensorDict) float64 {
			return testing.AllocsPerRun(100, func() { _, _ = td.Index(ix.Range(4, 20)) })
		}
		require.LessOrEqual(t, byRange(td), 6.0, "by range, %d leaves", leaves)
		require.LessOrEqual(t, byRange(nested), 8.0, "by range, nested, %d leaves", leaves)
		require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = td.Index(take) }), 10.0, "by list, %d leaves", leaves)
	}
	for _, n := range []int{2, 10, 100} {
		tds := make([]*tdict.TensorDict, n)
		for i := range tds {
			tds[i] = wide(10, 32)
		}
		stack := testing.AllocsPerRun(20, func() { _, _ = shapeops.Stack(tds, 0) })
		require.LessOrEqual(t, stack, 12.0, "stack of %d", n)
	}
}

// Rows that are taken into memory that is there cost headers only, however many they are.
func TestIndexIntoAllocationsDoNotGrowWithRows(t *testing.T) {
	td := wide(10, 5000)
	cost := func(n int) float64 {
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i * 7 % 5000
		}
		dst, take := wide(10, n), ix.Take(rows...)
		return testing.AllocsPerRun(20, func() {
			if err := td.IndexInto(dst, take); err != nil {
				t.Error(err)
			}
		})
	}
	require.InDelta(t, cost(2), cost(4000), 1)
	require.LessOrEqual(t, cost(4000), 16.0)
}

// Values that no row has any more are dropped.
func TestDataForgets(t *testing.T) {
	const writes, size = 100, 1 << 20
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	td, before := dict([]int{2}, entry{"d", data("", 2)}), heap()
	for i := range writes {
		require.NoError(t, td.SetIndex(data(strings.Repeat(string(rune('a'+i%26)), size)), ix.At(i%2)))
	}
	require.Less(t, heap(), before+writes/2*size)
	runtime.KeepAlive(td)
}

// The bytes of many small writes, and of a few rows of many, grow with their number, not with its
// square.
func TestDataGrowth(t *testing.T) {
	all := func(n int) *tdict.TensorDict {
		values := make([]any, n)
		for i := range values {
			values[i] = i
		}
		return dict([]int{n}, entry{"d", tensor.Must(tdict.DataFrom(values, n))})
	}
	tests := []struct {
		name string
		run  func(td *tdict.TensorDict, n int) error
		most float64 // times the bytes of a tenth
	}{
		{"one row at a time", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(i)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"one row at a time, read in between", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(i)); err != nil {
					return err
				}
				_ = tensor.Must(td.Index(ix.At(i)))
			}
			return nil
		}, 15},
		{"one row again and again", func(td *tdict.TensorDict, n int) error {
			for i := range n {
				if err := td.SetIndex(data(-i), ix.At(0)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"rows of another, one at a time", func(td *tdict.TensorDict, n int) error {
			other := tensor.Must(td.Clone())
			for i := range n {
				if err := td.SetIndex(tensor.Must(other.Index(ix.At(n-1-i))), ix.At(i)); err != nil {
					return err
				}
			}
			return nil
		}, 15},
		{"ten rows of it, stacked", func(td *tdict.TensorDict, n int) error {
			rows := make([]*tdict.TensorDict, 10)
			for i := range rows {
				rows[i] = tensor.Must(td.Index(ix.At(i)))
			}
			return testkit.Err(shapeops.Stack(rows, 0))
		}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cost := func(n int) func() {
				td := all(n)
				return func() { require.NoError(t, tt.run(td, n)) }
			}
			for _, n := range []int{100, 1000} {
				testkit.Near(t, tt.most, cost(n), cost(10*n))
			}
		})
	}
}
