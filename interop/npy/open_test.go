package npy_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// array returns the file of an array of a descr, an order, a shape and n bytes of elements.
func array(descr, order, shape string, n int) []byte {
	return append(testkit.NpyHeader(1, fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s}", descr, order, shape)), make([]byte, n)...)
}

// TestHeadersAreParsed reads headers as NumPy does not write them today.
func TestHeadersAreParsed(t *testing.T) {
	tests := []struct {
		name, text string
		version    byte
		shape      []int
		dtype      tensor.DType
	}{
		{"keys in another order", `{"shape":(2,),"descr":"<u2","fortran_order":False}`, 1, []int{2}, tensor.Uint16},
		{"white space", "\n{ 'shape' :\t( 2 ,) , 'descr' : '<u2', 'fortran_order' : False , } \n\n", 1, []int{2}, tensor.Uint16},
		{"a scalar", `{'descr': '<f4', 'fortran_order': False, 'shape': ()}`, 1, []int{}, tensor.Float32},
		{"Python 2", `{'descr': u'<u2', 'fortran_order': False, 'shape': (2L,)}`, 1, []int{2}, tensor.Uint16},
		{"version 2", `{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}`, 2, []int{2}, tensor.Uint16},
		{"version 3", `{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}`, 3, []int{2}, tensor.Uint16},
		{"no byte order", `{'descr': 'u2', 'fortran_order': False, 'shape': (2,)}`, 1, []int{2}, tensor.Uint16},
		{"escapes", `{'\x64\u0065scr': '<u2', 'fortran_order': False, 'shape': (2,)}`, 1, []int{2}, tensor.Uint16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := append(testkit.NpyHeader(tt.version, tt.text), 1, 0, 2, 0)
			f := open(t, put(t, file))
			x := tensor.Must(npy.Read(bytes.NewReader(file)))
			require.Equal(t, tt.shape, []int(f.Shape()))
			require.Equal(t, tt.dtype, f.DType())
			require.True(t, f.Equal(x))
			require.Equal(t, []byte{1, 0, 2, 0}, testkit.Content(t, f.Tensor))
		})
	}
}

// TestNamesOfFields reads the name of a field in each version, in Latin-1 and in UTF-8.
func TestNamesOfFields(t *testing.T) {
	for version, name := range map[byte]string{1: "\xe9", 2: "\xe9", 3: "é"} {
		text := "{'descr': [('" + name + "', '|u1'), ('it\\'s', '|u1')], 'fortran_order': False, 'shape': (1,)}"
		d := openDict(t, put(t, append(testkit.NpyHeader(version, text), 7, 8)))
		require.Equal(t, []string{"é", "it's"}, keysOf(d.TensorDict))
	}
}

func keysOf(td *tdict.TensorDict) (all []string) {
	for key := range td.Leaves() {
		all = append(all, string(key))
	}
	return all
}

// TestReadLeavesTheRest reads arrays that follow one another.
func TestReadLeavesTheRest(t *testing.T) {
	var b bytes.Buffer
	want := []*tensor.Tensor{tensor.Vector(1.5, 2), tensor.Scalar(int8(3)), tensor.Must(tensor.Zeros[bool](0, 4))}
	for _, x := range want {
		require.NoError(t, npy.Write(&b, x))
	}
	for _, x := range want {
		require.True(t, x.Equal(tensor.Must(npy.Read(&b))))
	}
	_, err := npy.Read(&b)
	require.ErrorIs(t, err, io.EOF)
}

// TestReadReportsTheReader cuts an array at each byte, and has the reader fail there.
func TestReadReportsTheReader(t *testing.T) {
	broken := errors.New("broken")
	file := written(t, tensor.Vector[uint16](1, 2, 3))
	for n := range file {
		_, err := npy.Read(bytes.NewReader(file[:n]))
		require.ErrorIs(t, err, npy.ErrCorrupt)
		_, err = npy.Read(io.MultiReader(bytes.NewReader(file[:n]), failing{broken}))
		require.ErrorIs(t, err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestReadTakesMemoryForWhatIsThere: a header that claims much has room for little.
func TestReadTakesMemoryForWhatIsThere(t *testing.T) {
	file := array("'<f8'", "False", "(1000000000000,)", 100)
	testkit.MaxBytes(t, 2<<20, func() { require.ErrorIs(t, testkit.Err(npy.Read(bytes.NewReader(file))), npy.ErrCorrupt) })
	large := tensor.Must(tensor.Arange[uint32](0, 1<<20, 1))
	require.True(t, large.Equal(tensor.Must(npy.Read(bytes.NewReader(written(t, large))))))
}

// TestCutRecords opens a file of records cut at each byte.
func TestCutRecords(t *testing.T) {
	records, path := array("[('x', '<u2'), ('y', '<u2')]", "False", "(3,)", 12), put(t, nil)
	for n := range records {
		require.NoError(t, os.WriteFile(path, records[:n], 0o666))
		_, err := npy.OpenDict(path)
		require.IsType(t, &npy.FileError{}, err, "%d bytes", n)
		require.ErrorIs(t, err, npy.ErrCorrupt, "%d bytes", n)
	}
}

// TestViews lists which arrays are views of the file, and which are copies.
func TestViews(t *testing.T) {
	tests := []struct {
		name, descr, order string
		size               int
		mapped             map[string]bool
	}{
		{"fields at multiples of their size", "[('a', '<i4'), ('', '|V4'), ('b', '<f8'), ('c', '|u1', (8,))]", "False", 24, map[string]bool{"a": true, "b": true, "c": true}},
		{"an offset that is not", "[('a', '|i1'), ('b', '<i2'), ('', '|V1')]", "False", 4, map[string]bool{"a": true, "b": false}},
		{"a record that is not", "[('b', '<i2'), ('a', '|i1')]", "False", 3, map[string]bool{"a": true, "b": false}},
		{"an array of fields", "[('n', [('b', '<i2'), ('a', '|i1'), ('', '|V1')], (3,)), ('z', '<f4')]", "True", 16, map[string]bool{"n/b": true, "n/a": true, "z": true}},
		{"the other byte order", "[('a', '>i4'), ('b', '>u1')]", "False", 5, map[string]bool{"a": false, "b": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := openDict(t, put(t, array(tt.descr, tt.order, "(2, 5)", 10*tt.size)))
			got := map[string]bool{}
			for key, x := range d.Tensors() {
				got[string(key)] = x.Lender() != nil
			}
			require.Equal(t, tt.mapped, got)
		})
	}
	f := open(t, put(t, array("'<f4'", "True", "(2, 3, 4)", 96)))
	require.Equal(t, []int{1, 2, 6}, f.View().Strides)
	require.NotNil(t, f.Lender())
}
