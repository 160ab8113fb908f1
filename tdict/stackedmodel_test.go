package tdict_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A listModel is a stack beside what it is to be: a list of dictionaries, of which one may be there
// several times.
type listModel struct {
	t    *testing.T
	td   *tdict.TensorDict
	list []*tdict.TensorDict
	next int64 // the first number of the next dictionary
}

// fresh returns a dictionary with some keys, and some steps, that a number chooses.
func (m *listModel) fresh(choice int) *tdict.TensorDict {
	n := choice % 4
	td := tdict.New(n)
	for i, key := range []nestedkey.Key{"x", "obs/y", "obs/z", "w"} {
		if i == 0 || choice>>(i+1)&1 == 1 {
			m.next += 100
			require.NoError(m.t, td.Set(key, from1(m.next, n, 1+choice>>6%2)))
		}
	}
	return td
}

// check compares the stack with the list.
func (m *listModel) check(step string) {
	consistent(m.t, m.td)
	_, members, err := tdict.Members(m.td)
	require.NoError(m.t, err, step)
	require.Len(m.t, members, len(m.list), step)
	for i, want := range m.list {
		text, err := want.Diff(members[i])
		require.NoError(m.t, err, step)
		require.Empty(m.t, text, "%s: member %d", step, i)
		row := tensor.Must(m.td.Index(ix.At(i)))
		require.ElementsMatch(m.t, testkit.Keys(want.Leaves()), testkit.Keys(row.Leaves()), step)
	}
}

// take makes both a choice of positions.
func (m *listModel) take(rows []int, expr ix.Index) {
	var list []*tdict.TensorDict
	for _, row := range rows {
		list = append(list, m.list[row])
	}
	m.td, m.list = tensor.Must(m.td.Index(expr)), list
}

// each makes of each dictionary of the list another.
func (m *listModel) each(fn func(td *tdict.TensorDict) (*tdict.TensorDict, error)) {
	list := slices.Clone(m.list)
	for i, td := range list {
		list[i] = tensor.Must(fn(td))
	}
	m.list = list
}

// step does an operation that two numbers choose, and returns its name.
func (m *listModel) step(op, arg int) string {
	n := len(m.list)
	at := arg % n
	switch op % 9 {
	case 0:
		rows := []int{}
		for i := at; i < n; i += 1 + arg/n%2 {
			rows = append(rows, i)
		}
		m.take(rows, ix.Range(at, n).Step(1+arg/n%2))
		return "range"
	case 1:
		if n > 12 {
			return "nothing"
		}
		rows := []int{at, arg / n % n, at}
		m.take(rows, ix.Take(rows...))
		return "list"
	case 2:
		bits, rows := make([]bool, n), []int{}
		for i := range bits {
			if bits[i] = i == at || arg>>i&1 == 1; bits[i] {
				rows = append(rows, i)
			}
		}
		m.take(rows, ix.Mask(bits))
		return "mask"
	case 3:
		if n > 12 {
			return "nothing"
		}
		m.list = append(slices.Clone(m.list), m.fresh(arg))
		m.td = tensor.Must(tdict.LazyStack(m.list, 0))
		return "append"
	case 4:
		if n > 12 {
			return "nothing"
		}
		m.td = tensor.Must(shapeops.Cat([]*tdict.TensorDict{m.td, m.td}, 0))
		m.list = slices.Concat(m.list, m.list)
		return "cat"
	case 5:
		m.td = tensor.Must(arith.Add(m.td, 1))
		m.each(func(td *tdict.TensorDict) (*tdict.TensorDict, error) { return arith.Add(td, 1) })
		return "add"
	case 6:
		var back tdict.TensorDict
		require.NoError(m.t, back.UnmarshalJSON(tensor.Must(m.td.MarshalJSON())))
		require.True(m.t, back.Equal(m.td))
		m.td = tensor.Must(m.td.Clone())
		m.each((*tdict.TensorDict).Clone)
		return "clone"
	case 7:
		return m.write(at, n)
	}
	one := tensor.Must(tensor.Full[int64](int64(arg)))
	require.NoError(m.t, m.td.SetIndex(one, ix.At(at)))
	require.NoError(m.t, arith.FillInPlace(m.list[at], arg))
	return "write to one"
}

// write writes to all positions from one on, which is refused if a dictionary is there twice.
func (m *listModel) write(from, n int) string {
	twice := false
	for i, td := range m.list[from:] {
		twice = twice || td.ByteSize() > 0 && slices.Contains(m.list[from:from+i], td)
	}
	err := m.td.SetIndex(tensor.Must(tensor.Full[int64](-1)), ix.Range(from, n))
	if twice {
		require.ErrorIs(m.t, err, tensor.ErrOverlap)
		return "refused write"
	}
	require.NoError(m.t, err)
	for _, td := range m.list[from:] {
		require.NoError(m.t, arith.FillInPlace(td, -1))
	}
	return "write"
}

// FuzzStacked does programs of operations on a stack and on a list of dictionaries.
func FuzzStacked(f *testing.F) {
	f.Add([]byte{3, 7, 3, 62, 1, 1, 7, 0, 5, 0, 7, 0, 4, 0, 7, 1, 6, 0, 2, 5, 8, 2, 0, 1})
	f.Add([]byte{3, 255, 4, 0, 8, 1, 8, 9, 0, 4})
	f.Fuzz(func(t *testing.T, program []byte) {
		m := &listModel{t: t}
		m.list = []*tdict.TensorDict{m.fresh(1), m.fresh(22)}
		m.td = tensor.Must(tdict.LazyStack(m.list, 0))
		for len(program) >= 2 && len(program) < 64 {
			m.check(m.step(int(program[0]), int(program[1])))
			program = program[2:]
		}
	})
}

// Random programs, as FuzzStacked does.
func TestStackedPrograms(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 1))
	for range 300 {
		m := &listModel{t: t}
		m.list = []*tdict.TensorDict{m.fresh(1), m.fresh(22)}
		m.td = tensor.Must(tdict.LazyStack(m.list, 0))
		for range 12 {
			m.check(m.step(rng.IntN(256), rng.IntN(256)))
		}
	}
}

// What is no stack is refused, with the key and the member, and changes nothing.
func TestStacksRefuse(t *testing.T) {
	x := dict([]int{2}, entry{"x", count(2, 3)})
	fresh := func() *tdict.TensorDict { return tensor.Must(tdict.LazyStack(episodes(), 0)) }
	lazy := func(dim int, tds ...*tdict.TensorDict) func(*tdict.TensorDict) error {
		return func(*tdict.TensorDict) error { return testkit.Err(tdict.LazyStack(tds, dim)) }
	}
	refuse(t, fresh, []refusal{
		{"nothing", lazy(0), shapeops.ErrShape},
		{"a dim too high", lazy(2, x), shapeops.ErrShape},
		{"a dim too low", lazy(-3, x), shapeops.ErrShape},
		{"a dim after what agrees", lazy(1, x, dict([]int{3}, entry{"x", count(3, 3)})), shapeops.ErrShape},
		{"a dictionary under a leaf's key", lazy(0, x, dict([]int{2}, entry{"x/y", count(2)})), tdict.ErrKind},
		{"data under a tensor's key", lazy(0, x, dict([]int{2}, entry{"x", data(1)})), tdict.ErrKind},
		{"members of a dense one", func(*tdict.TensorDict) error { _, _, err := tdict.Members(x); return err }, tdict.ErrKind},
		{"dense", func(td *tdict.TensorDict) error { return testkit.Err(td.Dense()) }, shapeops.ErrShape},
		{"a write to a hole", func(td *tdict.TensorDict) error {
			return td.SetIndex(dict(nil, entry{"only", count(3)}), ix.At(0))
		}, tdict.ErrMissing},
		{"a write of another size", func(td *tdict.TensorDict) error {
			return td.SetIndex(dict(nil, entry{"x", count(9, 2)}), ix.At(0))
		}, shapeops.ErrShape},
		{"a write of another kind", func(td *tdict.TensorDict) error {
			return td.SetIndex(dict(nil, entry{"x", data(1)}), ix.At(0))
		}, tdict.ErrKind},
		{"a write to what is there twice", func(td *tdict.TensorDict) error {
			return tensor.Must(td.Index(ix.Take(0, 0))).SetIndex(tensor.Must(tensor.Full[int64](1)), ix.Range(0, 2))
		}, tensor.ErrOverlap},
		{"a sum over what differs", func(td *tdict.TensorDict) error { return testkit.Err(arith.Sum(td, arith.Dims(0))) }, shapeops.ErrShape},
		{"cat of other lengths", func(td *tdict.TensorDict) error {
			other := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{episode(2, 0)}, 0))
			return testkit.Err(shapeops.Cat([]*tdict.TensorDict{td, other}, 0))
		}, shapeops.ErrShape},
		{"another shape", func(td *tdict.TensorDict) error { return testkit.Err(td.NewZeros(7)) }, shapeops.ErrShape},
		{"padded data", func(td *tdict.TensorDict) error {
			_, _, err := tensor.Must(tdict.Get[*tdict.Stacked](td, "name")).Padded(tdict.PaddedOptions{})
			return err
		}, tdict.ErrKind},
		{"ragged scalars", func(*tdict.TensorDict) error {
			td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{dict(nil, entry{"x", count()}), dict(nil, entry{"x", count()})}, 0))
			return testkit.Err(tensor.Must(tdict.Get[*tdict.Stacked](td, "x")).Ragged())
		}, shapeops.ErrShape},
		{"a member beyond the end", func(td *tdict.TensorDict) error {
			return testkit.Err(tensor.Must(tdict.Get[*tdict.Stacked](td, "x")).Member(3))
		}, shapeops.ErrIndex},
		{"a schema's zeros", func(td *tdict.TensorDict) error { return testkit.Err(tdict.SchemaOf(td).Zeros(3)) }, tdict.ErrSchema},
	})
	var none *tdict.Stacked
	for name, err := range map[string]error{
		"member": testkit.Err(none.Member(0)), "dense": testkit.Err(none.Dense()), "ragged": testkit.Err(none.Ragged()),
		"clone": testkit.Err(none.Clone()), "set": tdict.New().Set("x", none),
		"zero": tdict.New().Set("x", &tdict.Stacked{}),
	} {
		require.True(t, errors.Is(err, tdict.ErrKind), name)
	}
	require.False(t, none.Uniform())
	require.Equal(t, "stacked <nil>", none.String())
}
