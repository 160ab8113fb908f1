package nrt_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// An array is one of a file.
type array struct {
	name, dtype string
	shape       []int
	data        []byte
}

// ints returns an array of int64.
func ints(name string, values ...int64) array {
	return array{name, "I64", []int{len(values)}, cast.Bytes(values)}
}

// bytesOf returns an array of uint8.
func bytesOf(name string, values ...byte) array { return array{name, "U8", []int{len(values)}, values} }

// fileOf returns a file of arrays.
func fileOf(t testing.TB, arrays ...array) []byte {
	t.Helper()
	var entries []safetensors.Entry
	data := map[string][]byte{}
	for _, a := range arrays {
		entries = append(entries, safetensors.Entry{Name: a.name, DType: a.dtype, Shape: a.shape})
		data[a.name] = a.data
	}
	h, file, err := safetensors.Plan(entries, map[string]string{"format": "any"})
	require.NoError(t, err)
	for _, e := range h.Entries {
		file = append(file, data[e.Name]...)
	}
	return file
}

// put returns the path of a file with that content.
func put(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.nrt")
	require.NoError(t, os.WriteFile(path, content, 0o666))
	return path
}

func TestRead(t *testing.T) {
	b1, ts := ints("dim1/bounds", 2, 3), bytesOf("dim1/ts", 1, 2, 3)
	rows := map[string]any{"ts": []any{[]any{1, 2}, []any{3}}}
	with := func(name string, list any) map[string]any { return map[string]any{"ts": rows["ts"], name: list} }
	tests := []struct {
		name   string
		arrays []array
		want   map[string]any
	}{
		{"nothing", nil, nil},
		{"rows only", []array{bytesOf("dim0/a", 1, 2)}, map[string]any{"a": []any{1, 2}}},
		{"fields in the order of their names", []array{b1, ts, bytesOf("dim0/a", 8, 9)}, with("a", []any{8, 9})},
		{"a level without a field of its own", []array{b1, ints("dim2/bounds", 0, 1, 1), bytesOf("dim2/v", 5)},
			map[string]any{"v": []any{[]any{[]any{}, []any{5}}, []any{[]any{}}}}},
		{"lengths of old writers are passed over", []array{b1, ts, ints("dim1/lengths", 2, 1)}, rows},
		{"lengths of all levels are passed over", []array{b1, ts, ints("dim1/lengths", 2, 1), ints("dim2/bounds", 1, 1, 2),
			ints("dim2/lengths", 1, 0, 1), bytesOf("dim2/v", 4, 5)}, with("v", []any{[]any{[]any{4}, []any{}}, []any{[]any{5}}})},
		{"a field called lengths, of another dtype", []array{b1, ts, bytesOf("dim1/lengths", 2, 1, 1)},
			with("lengths", []any{[]any{2, 1}, []any{1}})},
		{"a field called lengths, of rows", []array{b1, ts, bytesOf("dim0/lengths", 2, 1)}, with("lengths", []any{2, 1})},
		{"bounds deeper than any field are passed over", []array{b1, ts, ints("dim2/bounds", 9, 1)}, rows},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := fileOf(t, tt.arrays...)
			want := tensor.Must(nrt.FromLists(tt.want, nil))
			got := tensor.Must(nrt.Read(file))
			require.Equal(t, want.String(), got.String())
			require.True(t, want.Equal(got))
			require.True(t, want.Equal(open(t, put(t, file)).Joint))
		})
	}
}

// A field called lengths may be one for each row without being their lengths.
func TestLengthsOfAField(t *testing.T) {
	file := fileOf(t, ints("dim1/bounds", 1, 2), ints("dim1/lengths", 1, 7))
	j := tensor.Must(nrt.Read(file))
	require.Equal(t, []string{"lengths"}, j.Names())
	require.True(t, j.Equal(tensor.Must(nrt.Read(written(t, j)))))
}

// Scalars are what the original leaves of fields of a single row.
func TestScalars(t *testing.T) {
	j := tensor.Must(nrt.Read(fileOf(t, bytesOf("dim-1/s", 9), bytesOf("dim-2/r", 7), bytesOf("dim0/ts", 4, 5, 6))))
	for name, want := range map[string]uint8{"s": 9, "r": 7} {
		x := tensor.Must(j.Tensor(name))
		require.Empty(t, x.Shape())
		require.Equal(t, []uint8{want}, testkit.Elements[uint8](t, tensor.Must(x.Values())))
	}
	again := tensor.Must(nrt.Read(written(t, j)))
	require.True(t, j.Equal(again))
	row := tensor.Must(visits().Row(2))
	require.True(t, row.Equal(tensor.Must(nrt.Read(written(t, row)))), "a scalar, rows, rows of rows")
}

// TestKeys: other fields may be anything.
func TestKeys(t *testing.T) {
	file := fileOf(t, ints("dim1/bounds", 2, 3), bytesOf("dim1/ts", 1, 2, 3), bytesOf("dim1/x", 7, 8, 9),
		ints("dim2/bounds", 9, -1, 3, 4), array{"dim2/v", "BF16", []int{0}, nil}, bytesOf("dim1/a/b", 1), bytesOf("what", 1),
		bytesOf("dim0/s", 1, 2, 3, 4))
	path := put(t, file)
	require.ErrorIs(t, testkit.Err(nrt.Open(path)), nrt.ErrUnsupported)
	f, err := nrt.OpenWith(path, nrt.Options{Keys: []string{"x", "ts"}})
	require.NoError(t, err)
	require.Equal(t, []string{"x", "ts"}, f.Names())
	require.NoError(t, f.Close())

	for _, keys := range [][]string{{"ts", "nope"}, {"bounds"}, {"ts", "ts"}} {
		require.ErrorIs(t, testkit.Err(nrt.OpenWith(path, nrt.Options{Keys: keys})), joint.ErrName, "%v", keys)
	}
}

// TestCorrupt has a row for each rule of the format.
func TestCorrupt(t *testing.T) {
	b1, b2, ts := ints("dim1/bounds", 2, 3), ints("dim2/bounds", 1, 1, 4), bytesOf("dim1/ts", 1, 2, 3)
	v := bytesOf("dim2/v", 4, 5, 6, 7)
	tests := []struct {
		name   string
		arrays []array
		err    error
	}{
		{"bounds decrease", []array{ints("dim1/bounds", 3, 2), ts}, nrt.ErrCorrupt},
		{"bounds below 0", []array{ints("dim1/bounds", -1, 3), ts}, nrt.ErrCorrupt},
		{"bounds decrease, of a deeper level", []array{b1, ints("dim2/bounds", 1, 0, 4), v}, nrt.ErrCorrupt},
		{"more rows than the level around says", []array{b1, ints("dim2/bounds", 1, 1, 2, 4), v}, nrt.ErrCorrupt},
		{"fewer rows than the level around says", []array{b1, ints("dim2/bounds", 1, 4), v}, nrt.ErrCorrupt},
		{"more values than the level says", []array{b1, bytesOf("dim1/ts", 1, 2, 3, 4)}, nrt.ErrCorrupt},
		{"fewer values than the level says", []array{b1, b2, v, bytesOf("dim1/ts", 1, 2)}, nrt.ErrCorrupt},
		{"values of rows, and other rows", []array{b1, ts, bytesOf("dim0/s", 1, 2, 3)}, nrt.ErrCorrupt},
		{"rows differ", []array{bytesOf("dim0/s", 1, 2, 3), bytesOf("dim0/t", 1, 2)}, nrt.ErrCorrupt},
		{"no bounds", []array{ts}, nrt.ErrCorrupt},
		{"no bounds of a level between", []array{b1, ints("dim3/bounds", 1), bytesOf("dim3/v", 1)}, nrt.ErrCorrupt},
		{"no bounds of a level that nobody has", []array{b1, bytesOf("dim9223372036854775807/v", 1)}, nrt.ErrCorrupt},
		{"bounds of another dtype", []array{{"dim1/bounds", "U64", []int{2}, make([]byte, 16)}, bytesOf("dim1/ts")}, nrt.ErrCorrupt},
		{"bounds of two dims", []array{{"dim1/bounds", "I64", []int{2, 1}, make([]byte, 16)}, bytesOf("dim1/ts")}, nrt.ErrCorrupt},
		{"bounds without a dim, of a deeper level", []array{b1, {"dim2/bounds", "I64", []int{}, make([]byte, 8)}, v}, nrt.ErrCorrupt},
		{"bounds of rows", []array{ints("dim0/bounds", 1)}, nrt.ErrCorrupt},
		{"bounds of a scalar", []array{ints("dim-1/bounds", 1)}, nrt.ErrCorrupt},
		{"values of two dims", []array{b1, {"dim1/ts", "U8", []int{3, 1}, make([]byte, 3)}}, nrt.ErrCorrupt},
		{"values without a dim", []array{{"dim0/s", "U8", []int{}, make([]byte, 1)}}, nrt.ErrCorrupt},
		{"a scalar of two values", []array{bytesOf("dim-1/s", 1, 2)}, nrt.ErrCorrupt},
		{"a scalar of no value", []array{bytesOf("dim-2/s")}, nrt.ErrCorrupt},
		{"a key at two depths", []array{b1, ts, bytesOf("dim0/ts", 1, 2)}, nrt.ErrCorrupt},
		{"a key as field and scalar", []array{bytesOf("dim-1/s", 1), bytesOf("dim0/s", 1, 2)}, nrt.ErrCorrupt},
		{"a name without a depth", []array{bytesOf("ts", 1)}, nrt.ErrCorrupt},
		{"a depth that is not a number", []array{bytesOf("dimx/ts", 1)}, nrt.ErrCorrupt},
		{"a depth with a zero before it", []array{bytesOf("dim00/ts", 1)}, nrt.ErrCorrupt},
		{"a depth that overflows", []array{bytesOf("dim9223372036854775808/ts", 1)}, nrt.ErrCorrupt},
		{"a key with a separator", []array{bytesOf("dim0/a/b", 1)}, nrt.ErrUnsupported},
		{"a key that is empty", []array{bytesOf("dim0/", 1)}, nrt.ErrUnsupported},
		{"a key that is reserved", []array{b1, bytesOf("dim1/mask", 1, 1, 1)}, nrt.ErrUnsupported},
		{"bfloat16", []array{{"dim0/x", "BF16", []int{1}, make([]byte, 2)}}, nrt.ErrUnsupported},
		{"complex numbers", []array{{"dim0/x", "C64", []int{1}, make([]byte, 8)}}, nrt.ErrUnsupported},
		{"a name that is very long", []array{bytesOf("dim0/"+strings.Repeat("x", 5000)+"/", 1)}, nrt.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := fileOf(t, tt.arrays...)
			_, err := nrt.Read(file)
			testkit.Fails(t, tt.err, err)
			require.Less(t, len(err.Error()), 1000)
			path := put(t, file)
			_, opened := nrt.Open(path)
			require.EqualError(t, opened, strings.Replace(err.Error(), "read: ", "open "+path+": ", 1))
		})
	}
}

// TestLongErrors: a text stays short, whatever a file holds.
func TestLongErrors(t *testing.T) {
	path := put(t, fileOf(t, bytesOf("dim0/a", 1)))
	_, err := nrt.OpenWith(path, nrt.Options{Keys: []string{strings.Repeat("é", 1000)}})
	require.ErrorIs(t, err, joint.ErrName)
	require.Less(t, len(err.Error()), 1000)
	long := &nrt.FileError{Op: "open", Path: "x", Err: errors.New(strings.Repeat("é", 1000))}
	require.Less(t, len(long.Error()), 1000)
	require.True(t, utf8.ValidString(long.Error()))
}

// TestTruncated cuts a file after each of its bytes.
func TestTruncated(t *testing.T) {
	for n := range len(visitsFile) {
		_, err := nrt.Read([]byte(visitsFile[:n]))
		require.ErrorIs(t, err, nrt.ErrCorrupt, "%d bytes", n)
		_, err = nrt.Open(put(t, []byte(visitsFile[:n])))
		require.ErrorIs(t, err, nrt.ErrCorrupt, "%d bytes", n)
	}
	require.ErrorIs(t, testkit.Err(nrt.Read([]byte(visitsFile+"\x00"))), nrt.ErrCorrupt, "trailing data")
}

// TestFlipped changes each bit of a file: it is refused with an error that says why, or what is
// read can be written and read.
func TestFlipped(t *testing.T) {
	for i := range 8 * len(visitsFile) {
		file := []byte(visitsFile)
		file[i/8] ^= 1 << (i % 8)
		checkRead(t, file)
	}
}

// checkRead reads a file, which may hold anything.
func checkRead(t testing.TB, file []byte) {
	t.Helper()
	j, err := nrt.Read(file)
	if err != nil {
		_, named := errors.AsType[*nrt.FileError](err)
		if !named || !errors.Is(err, nrt.ErrCorrupt) && !errors.Is(err, nrt.ErrUnsupported) {
			t.Fatalf("unclassified error %v", err)
		}
		return
	}
	if err := nrt.Write(io.Discard, j); errors.Is(err, nrt.ErrCorrupt) {
		require.ErrorContains(t, err, "for bool element", "Read reads no element")
		return
	}
	once := written(t, j)
	again, err := nrt.Read(once)
	require.NoError(t, err)
	require.Equal(t, j.String(), again.String())
	require.Equal(t, string(once), string(written(t, again)))
}

// FuzzOpen reads any bytes: it never allocates more than a small multiple of them, and what it
// reads can be written, read, and written as the same.
func FuzzOpen(f *testing.F) {
	for _, folder := range golden(f) {
		f.Add(tensor.Must(os.ReadFile(filepath.Join(folder, "data.nrt"))))
	}
	f.Add([]byte(visitsFile))
	f.Add([]byte(mixedFile))
	f.Add(fileOf(f, ints("dim1/bounds", 2, 3), bytesOf("dim1/ts", 1, 2, 3), ints("dim1/lengths", 2, 1), bytesOf("dim-1/s", 1)))
	f.Add(fileOf(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		testkit.MaxBytes(t, 64*uint64(len(file))+16384, func() { _, _ = nrt.Read(file) })
		checkRead(t, slices.Clone(file))
	})
}

// TestMisaligned reads a file whose values begin anywhere.
func TestMisaligned(t *testing.T) {
	text := `{"dim0/a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"dim0/b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}`
	data, _ := hex.DecodeString("07000000000000f83f")
	file := append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
	for shift := range 8 {
		j := tensor.Must(nrt.Read(append(make([]byte, shift, shift+len(file)), file...)[shift:]))
		b := tensor.Must(tensor.Must(j.Tensor("b")).Values())
		require.Equal(t, []float64{1.5}, tensor.Must(tensor.Of[float64](b)))
	}
	f := open(t, put(t, file))
	b := tensor.Must(tensor.Must(f.Tensor("b")).Values())
	require.Equal(t, []float64{1.5}, testkit.Elements[float64](t, b))
}

// TestReadAdopts: values alias the file.
func TestReadAdopts(t *testing.T) {
	file := []byte(visitsFile)
	j := tensor.Must(nrt.Read(file))
	file[len(file)-1] = 99
	require.Contains(t, testkit.Elements[uint8](t, tensor.Must(tensor.Must(j.Tensor("v")).Values())), uint8(99))
}
