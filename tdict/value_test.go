package tdict_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// kinds returns a dictionary with a value of each kind: data, a tensor, a dictionary of both, and
// an unbatched tensor. Its batch shape is [3].
func kinds() *tdict.TensorDict {
	return dict([]int{3}, entry{"name", texts("a", "b", "c")}, entry{"x", count(3, 2)},
		entry{"d/label", data(1)}, entry{"d/y", count(3)}, entry{"w", unbatched(count(2))})
}

// A stranger looks like one.
type stranger struct{ *tensor.Tensor }

// What is no value of a kind, or holds nothing, is refused wherever a value is wanted.
func TestValuesOfNoKind(t *testing.T) {
	none := map[string]tdict.Value{
		"nil": nil, "foreign": stranger{count(3)}, "foreign pointer": &stranger{count(3)}, "another type": foreign{},
		"nil tensor": (*tensor.Tensor)(nil), "nil dictionary": (*tdict.TensorDict)(nil), "nil data": (*tdict.Data)(nil),
		"nil unbatched": (*tdict.Unbatched)(nil), "nil ragged": (*ragged.Tensor)(nil), "zero ragged": &ragged.Tensor{}, "zero tensor": &tensor.Tensor{}, "zero data": &tdict.Data{}, "zero unbatched": &tdict.Unbatched{},
	}
	ops := map[string]func(td *tdict.TensorDict, v tdict.Value) error{
		"set":        func(td *tdict.TensorDict, v tdict.Value) error { return td.Set("x", v) },
		"set within": func(td *tdict.TensorDict, v tdict.Value) error { return td.Set("d/new/x", v) },
		"set index":  func(td *tdict.TensorDict, v tdict.Value) error { return td.SetIndex(v, ix.At(0)) },
		"from map": func(_ *tdict.TensorDict, v tdict.Value) error {
			return testkit.Err(tdict.FromMap(nil, tdict.Entries{"x": v}))
		},
	}
	for name, v := range none {
		for op, do := range ops {
			td := kinds()
			testkit.Unchanged(t, td, state, func() { require.ErrorIs(t, do(td, v), tdict.ErrKind, "%s %s", op, name) })
		}
	}
}

// A value under a key where another dictionary has one of another kind is refused, with the key,
// and nothing has changed: not the data before it either.
func TestKindsDoNotMix(t *testing.T) {
	wrong := map[string]tdict.Value{"tensor": count(3), "tensor of pairs": count(3, 2), "data": data("z"), "dictionary": tdict.New(3), "unbatched": unbatched(count(2))}
	own := map[nestedkey.Key][]string{
		"name": {"data"}, "x": {"tensor", "tensor of pairs"}, "d/label": {"data"}, "d": {"dictionary"}, "w": {"unbatched"},
	}
	ops := map[string]func(td, other *tdict.TensorDict) error{
		"set index": func(td, other *tdict.TensorDict) error { return td.SetIndex(other) },
		"set index row": func(td, other *tdict.TensorDict) error {
			return td.SetIndex(tensor.Must(other.Index(ix.At(2))), ix.At(0))
		},
		"index into": func(td, other *tdict.TensorDict) error { return other.IndexInto(td) },
		"stack": func(td, other *tdict.TensorDict) error {
			return testkit.Err(shapeops.Stack([]*tdict.TensorDict{td, other}, 0))
		},
		"cat into": func(td, other *tdict.TensorDict) error {
			half := tensor.Must(other.Index(ix.Range(0, 2)))
			rest := tensor.Must(kinds().Index(ix.Range(2, 3)))
			return shapeops.CatInto(td, []*tdict.TensorDict{rest, half}, 0)
		},
	}
	for key, same := range own {
		for kind, v := range wrong {
			for op, do := range ops {
				other := kinds()
				require.NoError(t, other.SetIndex(dict([]int{3}, entry{"name", texts("p", "q", "r")})))
				require.NoError(t, other.Set(key, v))
				if kind == same[0] || len(same) > 1 && kind == same[1] {
					continue
				}
				td := kinds()
				about := fmt.Sprintf("%s of %s for %q", op, kind, key)
				testkit.Unchanged(t, td, state, func() {
					err := do(td, other)
					require.ErrorIs(t, err, tdict.ErrKind, about)
					var at *tdict.KeyError
					require.ErrorAs(t, err, &at, about)
					require.Equal(t, key, at.Key, about)
				})
			}
		}
	}
	refuse(t, kinds, []refusal{
		{"a tensor for all leaves", func(td *tdict.TensorDict) error { return td.SetIndex(tensor.Scalar[int64](1), ix.At(0)) }, tdict.ErrKind},
		{"data for all leaves", func(td *tdict.TensorDict) error { return td.SetIndex(data("z"), ix.At(0)) }, tdict.ErrKind},
	})
	td := kinds()
	text := tensor.Must(td.Diff(dict([]int{3}, entry{"name", count(3)})))
	require.Equal(t, `"name": data [3], other int64 [3]`, text)
	require.False(t, td.Equal(dict([]int{3}, entry{"name", count(3)}, entry{"x", count(3, 2)}, entry{"d", tdict.New(3)}, entry{"w", data(1)})))
}

// A later leaf that does not fit leaves the data before it as it was, when it is created too.
func TestKindsAreAtomic(t *testing.T) {
	value := func(last entry) *tdict.TensorDict {
		return dict(nil, entry{"name", data("new")}, entry{"new", data("made")}, entry{"d/label", data(2)}, last)
	}
	locked := &testkit.Lender{Bytes: make([]byte, 48), Locked: true}
	refuse(t, kinds, []refusal{
		{"another dtype", func(td *tdict.TensorDict) error {
			return td.SetIndexWith(value(entry{"x", tensor.Vector(1.0, 2)}), create, ix.At(1))
		}, tensor.ErrDType},
		{"another shape", func(td *tdict.TensorDict) error {
			return td.SetIndexWith(value(entry{"x", count(3)}), create, ix.At(1))
		}, shapeops.ErrShape},
		{"read-only memory", func(td *tdict.TensorDict) error {
			x := tensor.Must(tensor.FromLender(tensor.Int64, locked, 0, 3, 2))
			if err := td.Set("x", x); err != nil {
				return err
			}
			err := td.SetIndexWith(value(entry{"x", count(2)}), create, ix.At(1))
			return errorsJoin(err, td.Set("x", count(3, 2)))
		}, tensor.ErrReadOnly},
		{"memory that is gone, found when it runs", func(td *tdict.TensorDict) error {
			row := tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: errStop}, 0, 2))
			return td.SetIndexWith(dict(nil, entry{"name", data("new")}, entry{"x", row}), create, ix.At(2))
		}, errStop},
	})
}

func errorsJoin(err, after error) error {
	if after != nil {
		return after
	}
	return err
}

// The race detector watches readers of all kinds, whose results are written to.
func TestKindsConcurrentReaders(t *testing.T) {
	td := kinds()
	require.NoError(t, td.SetIndex(dict(nil, entry{"name", data("z")}), ix.At(1)))
	was := state(t, td)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 30 {
				part, err := td.Index(ix.Range(i%2, 3))
				if err == nil {
					err = part.SetIndex(dict(nil, entry{"name", data(i)}, entry{"d/label", data(i)}), ix.At(0))
				}
				both, joinErr := shapeops.Stack([]*tdict.TensorDict{td, td}, 0)
				if err != nil || joinErr != nil || !td.Equal(td) || fmt.Sprintf("%+v", both) == "" {
					t.Error(err, joinErr)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, was, state(t, td))
}
