package npy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// shapes are the shapes of the arrays that are exchanged with NumPy.
var shapes = [][]int{{}, {0}, {1}, {3}, {2, 3}, {0, 4}, {4, 0}, {1, 5}, {2, 3, 4}, {2, 1, 2, 1, 3}}

// counted returns an array that holds bytes 0, 1, 2 and so on, or bools.
func counted(t testing.TB, d tensor.DType, shape ...int) *tensor.Tensor {
	n := tensor.Must(tensor.Zeros[uint8](shape...)).Size() * d.Size()
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
		if d == tensor.Bool {
			b[i] %= 2
		}
	}
	return tensor.Must(tensor.FromBytes(d, b, shape...))
}

// numpyDTypes are the dtypes that NumPy has too.
func numpyDTypes() (all []tensor.DType) {
	for _, d := range tensor.DTypes() {
		if d != tensor.BFloat16 {
			all = append(all, d)
		}
	}
	return all
}

// TestPythonReads has NumPy read arrays of all dtypes, orders and shapes, and write each again: the
// same bytes.
func TestPythonReads(t *testing.T) {
	dir := t.TempDir()
	td := tdict.New()
	for _, d := range numpyDTypes() {
		for _, shape := range shapes {
			x := counted(t, d, shape...)
			turned := x
			if len(shape) > 1 {
				turned = tensor.Must(x.Transpose(0, -1))
			}
			for order, x := range map[string]*tensor.Tensor{"C": x, "F": turned} {
				name := fmt.Sprintf("%v%v%s", d, shape, order)
				require.NoError(t, npy.Save(filepath.Join(dir, name+".npy"), x))
				require.NoError(t, td.Set(nestedkey.Key(name), x))
			}
		}
	}
	require.NoError(t, npy.SaveDict(filepath.Join(dir, "all.npz"), td))
	require.NoError(t, npy.SaveDictWith(t.Context(), filepath.Join(dir, "packed.npz"), td, npy.SaveDictOptions{Compress: true}))
	out := processkit.Python(t, `
import sys, io, glob, os, numpy as np
os.chdir(sys.argv[1])
z, p = np.load('all.npz'), np.load('packed.npz')
n = 0
for path in sorted(os.listdir('.')):
    if not path.endswith('.npy'): continue
    x = np.load(path)
    b = io.BytesIO()
    np.save(b, x)
    assert b.getvalue() == open(path, 'rb').read(), path
    m = np.load(path, mmap_mode='r') if x.size else x
    for y in (m, z[path[:-4]], p[path[:-4]]):
        assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes(), path
    n += 1
print(n, len(z.files), len(p.files))`, dir)
	n := 2 * len(numpyDTypes()) * len(shapes)
	require.Equal(t, fmt.Sprintf("%d %d %d\n", n, n, n), out)
}

// TestPythonWrites reads arrays of NumPy's, of all dtypes, orders, byte orders and shapes, in files
// and in archives.
func TestPythonWrites(t *testing.T) {
	dir := t.TempDir()
	processkit.Python(t, `
import sys, os, numpy as np
os.chdir(sys.argv[1])
all = {}
for d in 'bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 complex64 complex128'.split():
    for shape in [(), (0,), (1,), (3,), (2, 3), (0, 4), (4, 0), (1, 5), (2, 3, 4), (2, 1, 2, 1, 3)]:
        n = int(np.prod(shape)) * np.dtype(d).itemsize
        b = np.arange(n, dtype=np.uint8) & (1 if d == 'bool' else 255)
        x = b.view(d).reshape(shape)
        for byteorder in '<>':
            for order in 'CF':
                y = x.astype(x.dtype.newbyteorder(byteorder), order=order)
                name = f"{d}{list(shape)}{byteorder}{order}".replace(',', '')
                np.save(name + '.npy', y)
                all[name] = y
np.savez('all.npz', **all)
np.savez_compressed('packed.npz', **all)`, dir)
	all, packed := openDict(t, filepath.Join(dir, "all.npz")), openDict(t, filepath.Join(dir, "packed.npz"))
	for _, d := range numpyDTypes() {
		for _, shape := range shapes {
			want := counted(t, d, shape...)
			for _, order := range []string{"<C", "<F", ">C", ">F"} {
				name := fmt.Sprintf("%v%v%s", d, shape, order)
				f := open(t, filepath.Join(dir, name+".npy"))
				file := tensor.Must(os.Open(filepath.Join(dir, name+".npy")))
				read := tensor.Must(npy.Read(file))
				require.NoError(t, file.Close())
				for _, x := range []*tensor.Tensor{f.Tensor, read, tensor.Must(all.Tensor(nestedkey.Key(name))), tensor.Must(packed.Tensor(nestedkey.Key(name)))} {
					require.Equal(t, want.DType(), x.DType(), name)
					require.Equal(t, want.Shape(), x.Shape(), name)
					require.Equal(t, testkit.Content(t, want), testkit.Content(t, x), name)
				}
				require.Equal(t, order[0] == '<' || d.Size() == 1, f.Lender() != nil, "%s: mapped", name)
			}
		}
	}
	require.Equal(t, 4*len(numpyDTypes())*len(shapes), all.NumEntries())
}

// TestPythonWritesRecords reads structured arrays of NumPy's.
func TestPythonWritesRecords(t *testing.T) {
	dir := t.TempDir()
	processkit.Python(t, `
import sys, os, numpy as np
os.chdir(sys.argv[1])
inner = np.dtype([('u', '<u2'), ('v', '>f4', (2,))])
for name, align in (('aligned', True), ('packed', False)):
    d = np.dtype([('a', 'i1'), ('b', '<f8', (3, 2)), (('title', 'c'), '<i4'), ('é/ü', 'c8'), ('n', inner, (2,)), ('e', 'f4', (0,)), ('z', '?')], align=align)
    for shape in ((), (0,), (5,), (2, 3)):
        n = int(np.prod(shape))
        x = np.zeros(shape, d)
        x['a'] = np.arange(n).reshape(shape)
        x['b'] = np.arange(n * 6).reshape(shape + (3, 2)) / 4
        x['c'] = -np.arange(n).reshape(shape)
        x['é/ü'] = np.arange(n).reshape(shape) * 2j
        x['n']['u'] = np.arange(n * 2).reshape(shape + (2,))
        x['n']['v'] = np.arange(n * 4).reshape(shape + (2, 2))
        x['z'] = x['a'] % 2
        for order in 'CF':
            path = f"{name}{list(shape)}{order}".replace(',', '')
            np.save(path + '.npy', x.copy(order))
            np.savez(path + '.npz', only=x.copy(order))
            np.savez_compressed(path + '.packed.npz', only=x.copy(order))
x = np.zeros(3, np.dtype([('name', 'U5'), ('age', 'i4')]))
x['age'] = 1, 2, 3
np.save('people.npy', x)`, dir)
	for _, name := range []string{"aligned", "packed"} {
		for _, shape := range [][]int{{}, {0}, {5}, {2, 3}} {
			for _, order := range []string{"C", "F"} {
				path := filepath.Join(dir, fmt.Sprintf("%s%v%s", name, shape, order))
				want := records(t, shape...)
				d := openDict(t, path+".npy")
				requireEqual(t, want, d.TensorDict)
				requireEqual(t, want, tensor.Must(openDict(t, path+".npz").Dict("only")))
				requireEqual(t, want, tensor.Must(openDict(t, path+".packed.npz").Dict("only")))
				require.NotNil(t, tensor.Must(d.Tensor("a")).Lender())
				require.Nil(t, tensor.Must(d.Tensor("n/v")).Lender(), "the other byte order")
				require.Equal(t, name == "aligned", tensor.Must(d.Tensor("b")).Lender() != nil)
			}
		}
	}
	people := filepath.Join(dir, "people.npy")
	require.ErrorIs(t, testkit.Err(npy.OpenDict(people)), npy.ErrUnsupported)
	for _, opt := range []npy.DictOptions{{SkipUnsupported: true}, {Keys: []nestedkey.Key{"age"}}} {
		d := tensor.Must(npy.OpenDictWith(people, opt))
		require.Equal(t, []int32{1, 2, 3}, testkit.Elements[int32](t, tensor.Must(d.Tensor("age"))))
		require.Equal(t, 1, d.NumEntries())
		require.NoError(t, d.Close())
	}
}

// requireEqual compares two dictionaries, keys in order.
func requireEqual(t testing.TB, want, got *tdict.TensorDict) {
	t.Helper()
	require.Equal(t, want.String(), got.String())
	require.True(t, want.Equal(got))
}

// records returns the records that the script above makes.
func records(t testing.TB, shape ...int) *tdict.TensorDict {
	n := tensor.Must(tensor.Zeros[uint8](shape...)).Size()
	count := func(d tensor.DType, scale float64, dims ...int) *tensor.Tensor {
		size := n
		for _, k := range dims {
			size *= k
		}
		v := make([]float64, size)
		for i := range v {
			v[i] = float64(i) * scale
		}
		return tensor.Must(tensor.Must(tensor.Must(tensor.From(v, len(v))).Cast(d)).Reshape(append(append([]int{}, shape...), dims...)...))
	}
	imaginary := make([]complex64, n)
	odd := make([]bool, n)
	for i := range n {
		imaginary[i] = complex(0, 2*float32(i))
		odd[i] = i%2 == 1
	}
	td := tdict.New(shape...)
	for _, e := range []struct {
		key nestedkey.Key
		x   *tensor.Tensor
	}{
		{"a", count(tensor.Int8, 1)}, {"b", count(tensor.Float64, 0.25, 3, 2)}, {"c", count(tensor.Int32, -1)},
		{"é~1ü", tensor.Must(tensor.From(imaginary, shape...))},
		{"n/u", count(tensor.Uint16, 1, 2)}, {"n/v", count(tensor.Float32, 1, 2, 2)},
		{"e", count(tensor.Float32, 1, 0)}, {"z", tensor.Must(tensor.From(odd, shape...))},
	} {
		require.NoError(t, td.Set(e.key, e.x))
	}
	return td
}
