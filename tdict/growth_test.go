package tdict_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var one = tensor.Scalar[int8](1)

// manyLeaves returns a dictionary of so many leaves, and their keys.
func manyLeaves(n int) (*tdict.TensorDict, []nestedkey.Key) {
	td, all := tdict.New(), make([]nestedkey.Key, n)
	for i := range all {
		all[i] = nestedkey.Of(fmt.Sprint("leaf", i))
		if err := td.Set(all[i], one); err != nil {
			panic(err)
		}
	}
	return td, all
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

func BenchmarkManyEntries(b *testing.B) {
	for _, op := range bulks {
		for _, n := range []int{800, 8_000, 80_000} {
			b.Run(fmt.Sprintf("op=%s/entries=%d", op.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					run := op.prepare(n)
					b.StartTimer()
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
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
	{"string", func(td *tdict.TensorDict) int { return strings.Count(td.String(), "int8") }},
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

func BenchmarkDeepWalk(b *testing.B) {
	for _, walk := range walks {
		for _, depth := range []int{4, 40, 256, 4000} {
			b.Run(fmt.Sprintf("walk=%s/depth=%d", walk.name, depth), func(b *testing.B) {
				td := topDown(depth)
				b.ReportAllocs()
				for b.Loop() {
					walk.run(td)
				}
			})
		}
	}
}
