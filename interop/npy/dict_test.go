package npy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// visits returns a dictionary of the batch shape [4].
func visits(t testing.TB) *tdict.TensorDict {
	td := tdict.New(4)
	for _, e := range []struct {
		key nestedkey.Key
		x   *tensor.Tensor
	}{
		{"obs/pos", counted(t, tensor.Float32, 4, 2, 3)}, {"obs/fast", counted(t, tensor.Bool, 4)},
		{"reward", counted(t, tensor.Float64, 4, 2)},
	} {
		require.NoError(t, td.Set(e.key, e.x))
	}
	return td
}

// TestDictRoundTrip saves and opens a dictionary, in all ways of saving, and over itself.
func TestDictRoundTrip(t *testing.T) {
	for _, opt := range []npy.SaveDictOptions{{}, {Compress: true}, {Unaligned: true}, {NoSync: true}, {Separator: "."}} {
		t.Run(fmt.Sprintf("%+v", opt), func(t *testing.T) {
			path := put(t, nil)
			require.NoError(t, npy.SaveDictWith(t.Context(), path, visits(t), opt))
			d := tensor.Must(npy.OpenDictWith(path, npy.DictOptions{Separator: opt.Separator}))
			defer d.Close()
			requireEqual(t, visits(t), d.TensorDict)
			for _, x := range d.Tensors() {
				require.Equal(t, !opt.Compress, x.Lender() != nil)
			}
			require.NoError(t, npy.SaveDictWith(t.Context(), path, d.TensorDict, opt))
			again := tensor.Must(npy.OpenDictWith(path, npy.DictOptions{Separator: opt.Separator}))
			requireEqual(t, visits(t), again.TensorDict)
			require.NoError(t, again.Close())
		})
	}
	empty := openDict(t, saved(t, tdict.New()))
	require.Zero(t, empty.NumEntries())
}

// TestElementsAreAligned finds all elements of an archive at multiples of 64.
func TestElementsAreAligned(t *testing.T) {
	for key, x := range openDict(t, saved(t, wide(t, 200))).Tensors() {
		b := tensor.Must(x.Lender().Borrow())
		at, inside := cast.Shift(b, cast.Bytes(tensor.Must(tensor.Of[float32](x))))
		require.True(t, inside && at%64 == 0, key)
		x.Lender().Return()
	}
}

func TestDictOptions(t *testing.T) {
	path := saved(t, visits(t))
	tests := []struct {
		name  string
		opt   npy.DictOptions
		keys  []string
		batch []int
		err   error
	}{
		{"the longest common shape", npy.DictOptions{}, []string{"obs/pos", "obs/fast", "reward"}, []int{4}, nil},
		{"of the keys that are wanted", npy.DictOptions{Keys: []nestedkey.Key{"reward", "obs/pos"}}, []string{"reward", "obs/pos"}, []int{4, 2}, nil},
		{"a dictionary is wanted", npy.DictOptions{Keys: []nestedkey.Key{"obs"}}, []string{"obs/pos", "obs/fast"}, []int{4}, nil},
		{"a bound", npy.DictOptions{Keys: []nestedkey.Key{"reward"}, BatchDims: 1}, []string{"reward"}, []int{4}, nil},
		{"no dims", npy.DictOptions{BatchDims: -1}, []string{"obs/pos", "obs/fast", "reward"}, []int{}, nil},
		{"as given", npy.DictOptions{Batch: []int{}}, []string{"obs/pos", "obs/fast", "reward"}, []int{}, nil},
		{"a batch shape that does not fit", npy.DictOptions{Batch: []int{4, 2}}, nil, nil, shapeops.ErrShape},
		{"a key that is not there", npy.DictOptions{Keys: []nestedkey.Key{"obs/vel"}}, nil, nil, tdict.ErrMissing},
		{"a key twice", npy.DictOptions{Keys: []nestedkey.Key{"reward", "reward"}}, nil, nil, tdict.ErrExists},
		{"a key below another", npy.DictOptions{Keys: []nestedkey.Key{"obs", "obs/pos"}}, nil, nil, tdict.ErrExists},
		{"nothing", npy.DictOptions{Keys: []nestedkey.Key{}}, nil, []int{}, nil},
		{"flat", npy.DictOptions{Flat: true}, []string{"obs~1pos", "obs~1fast", "reward"}, []int{4}, nil},
		{"another separator", npy.DictOptions{Separator: "::", Keys: []nestedkey.Key{"obs~1pos"}}, []string{"obs~1pos"}, []int{4, 2, 3}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := npy.OpenDictWith(path, tt.opt)
			require.ErrorIs(t, err, tt.err)
			if err != nil {
				require.ErrorContains(t, err, "open "+path+": ")
				return
			}
			require.Equal(t, tt.keys, keysOf(d.TensorDict))
			require.True(t, d.Shape().Equal(tt.batch), "%v", d.Shape())
			require.NoError(t, d.Close())
		})
	}
}

// TestNamesThatArePrefixes: an archive can have "a" and "a/b".
func TestNamesThatArePrefixes(t *testing.T) {
	path := put(t, testkit.Archive(t, testkit.Stored("a.npy", array("'<f4'", "False", "(2,)", 8)), testkit.Stored("a/b.npy", array("'<f4'", "False", "(2,)", 8))))
	_, err := npy.OpenDict(path)
	require.ErrorIs(t, err, tdict.ErrExists)
	require.ErrorContains(t, err, "set Flat")
	d := tensor.Must(npy.OpenDictWith(path, npy.DictOptions{Flat: true}))
	require.Equal(t, []string{"a", "a~1b"}, keysOf(d.TensorDict))
	require.NoError(t, d.Close())
}

// TestBatchOfRecords: the shape of a structured array is the batch shape.
func TestBatchOfRecords(t *testing.T) {
	path := put(t, array("[('x', '<f4', (3,)), ('y', '<f4', (3,))]", "False", "(5, 2)", 240))
	for dims, want := range map[int][]int{0: {5, 2}, 1: {5}, 9: {5, 2}, -1: {}} {
		d := tensor.Must(npy.OpenDictWith(path, npy.DictOptions{BatchDims: dims}))
		require.Equal(t, want, []int(d.Shape()))
		require.Equal(t, []int{5, 2, 3}, []int(tensor.Must(d.Tensor("y")).Shape()))
		require.NoError(t, d.Close())
	}
}

// TestOthersAreLeftOut opens an archive with members that are not read, or not arrays of numbers.
func TestOthersAreLeftOut(t *testing.T) {
	path := put(t, testkit.Archive(t,
		testkit.Stored("a.npy", array("'<f4'", "False", "(2,)", 8)),
		testkit.Stored("s.npy", array("'<U1'", "False", "(2,)", 8)),
		testkit.Packed("o.npy", array("'|O'", "False", "(2,)", 8)),
		testkit.Packed("r.npy", array("[('x', '<f4'), ('s', '|S4')]", "False", "(2,)", 16)),
		testkit.Stored("README", []byte("hello")),
		testkit.Stored("two.npy", array("'<f4'", "False", "(1,)", 8)),
	))
	_, err := npy.OpenDict(path)
	testkit.Fails(t, npy.ErrUnsupported, maskPath(err))
	for _, name := range []string{`"s.npy"`, `"o.npy"`, `"r/s"`, `"README"`, `"two.npy"`} {
		require.ErrorContains(t, err, name)
	}
	for _, opt := range []npy.DictOptions{{SkipUnsupported: true}, {Keys: []nestedkey.Key{"a", "r/x"}}} {
		d := tensor.Must(npy.OpenDictWith(path, opt))
		require.Equal(t, []string{"a", "r/x"}, keysOf(d.TensorDict))
		require.NoError(t, d.Close())
	}
	_, err = npy.OpenDictWith(path, npy.DictOptions{SkipUnsupported: true, MaxCopy: 100})
	require.ErrorIs(t, err, npy.ErrUnsupported, "a limit is not skipped")
	_, err = npy.OpenDictWith(path, npy.DictOptions{SkipUnsupported: true, Keys: []nestedkey.Key{"s"}})
	require.ErrorIs(t, err, tdict.ErrMissing)
}

// maskPath returns an error of a file without the path.
func maskPath(err error) error {
	e := *err.(*npy.FileError)
	e.Path = "FILE"
	return &e
}

// TestMaxCopy: inflated bytes count, headers too, and copied ones.
func TestMaxCopy(t *testing.T) {
	head := len(array("'>f4'", "False", "(2,)", 0))
	path := put(t, testkit.Archive(t, testkit.Packed("a.npy", array("'>f4'", "False", "(2,)", 8)), testkit.Stored("b.npy", array("'>f4'", "False", "(2,)", 8))))
	need := int64(head + 8 + 8 + 8)
	_, err := npy.OpenDictWith(path, npy.DictOptions{MaxCopy: need - 1})
	require.ErrorIs(t, err, npy.ErrUnsupported)
	require.ErrorContains(t, err, "MaxCopy")
	for _, most := range []int64{need, 0, -1} { // the last two are the default
		d, err := npy.OpenDictWith(path, npy.DictOptions{MaxCopy: most})
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
}

// TestManyMembers: memory is nearly linear in the number of members, and there is one mapping.
func TestManyMembers(t *testing.T) {
	counts := []int{1000, 10000}
	if longtests.On() {
		counts = append(counts, 100000)
	}
	var before uint64
	for _, n := range counts {
		path := put(t, nil)
		require.NoError(t, npy.SaveDictWith(t.Context(), path, wide(t, n), npy.SaveDictOptions{NoSync: true}))
		live := mapping.Live()
		bytes := testkit.Allocated(func() {
			d := openDict(t, path)
			require.Equal(t, live+1, mapping.Live())
			require.Equal(t, n/100, d.NumEntries())
			require.NoError(t, d.Close())
		})
		if before > 0 {
			require.Less(t, bytes, 12*before)
		}
		before = bytes
	}
}

// A field whose dtype is a subarray too has the dims of both, as NumPy has it.
func TestSubarrayOfASubarray(t *testing.T) {
	for descr, want := range map[string][]int{
		"('b', ('<f4', (2,)), (3,))":                  {2, 3, 2},
		"('b', ('<f4', (2,)))":                        {2, 2},
		"('b', (('<f4', (2,)), (5,)), (3,))":          {2, 3, 5, 2},
		"('b', ('<f4', ()), (3,))":                    {2, 3},
		"('b', ([('x', '<f4', (4,))], (2,)), (3, 1))": {2, 3, 1, 2, 4},
	} {
		content := testkit.NpyHeader(1, "{'descr': ["+descr+"], 'fortran_order': False, 'shape': (2,), }")
		n := 1
		for _, size := range want {
			n *= size
		}
		d := openDict(t, put(t, append(content, make([]byte, 4*n)...)))
		for _, x := range d.Tensors() {
			require.Equal(t, tensor.Float32, x.DType())
			require.Equal(t, want, []int(x.Shape()), descr)
		}
		require.Equal(t, 1, d.NumEntries())
	}
}

// Elements that are copied can be written, and those in the file cannot.
func TestWritingElements(t *testing.T) {
	for _, opt := range []npy.SaveDictOptions{{}, {Compress: true}} {
		path := put(t, nil)
		require.NoError(t, npy.SaveDictWith(t.Context(), path, visits(t), opt))
		x := tensor.Must(openDict(t, path).Tensor("reward"))
		err := x.CopyFrom(tensor.Must(tensor.Zeros[float64](4, 2)))
		if opt.Compress {
			require.NoError(t, err)
			requireEqual(t, visits(t), openDict(t, path).TensorDict)
		} else {
			require.ErrorIs(t, err, tensor.ErrReadOnly)
		}
	}
}
