package nrt_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestOpenFails(t *testing.T) {
	dir := t.TempDir()
	_, err := nrt.Open(filepath.Join(dir, "nope"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "open "+filepath.Join(dir, "nope")+": no such file or directory")
	require.ErrorIs(t, testkit.Err(nrt.Open(dir)), nrt.ErrCorrupt)
	require.Error(t, testkit.Err(nrt.Open("")))
}

// TestValuesAreMapped: opening takes memory for bounds, not for values.
func TestValuesAreMapped(t *testing.T) {
	l := tensor.Must(ragged.LayoutOf([]int{2}, []int64{1 << 20, 1 << 20}))
	big := tensor.Must(joint.New(joint.Field{Name: "x", Tensor: tensor.Must(ragged.New(tensor.Must(tensor.Zeros[float64](2<<20)), l))}))
	l = tensor.Must(ragged.LayoutOf([]int{2}, []int64{1, 1}))
	little := tensor.Must(joint.New(joint.Field{Name: "x", Tensor: tensor.Must(ragged.New(tensor.Vector(1.0, 2), l))}))
	a, b := saved(t, little), saved(t, big)
	testkit.Near(t, 1.2, func() { _ = open(t, a) }, func() { _ = open(t, b) })
	x := tensor.Must(tensor.Must(open(t, a).Tensor("x")).Values())
	require.ErrorIs(t, x.CopyFrom(tensor.Vector(3.0, 4)), tensor.ErrReadOnly)
}

// Beyond the limit on mappings a small file is copied, and a large one is an error.
func TestOpenBeyondTheLimit(t *testing.T) {
	values := tensor.Must(tensor.Zeros[float64](1 << 14))
	x := tensor.Must(ragged.New(values, tensor.Must(ragged.LayoutOf([]int{1}, []int64{1 << 14}))))
	large := saved(t, tensor.Must(joint.New(joint.Field{Name: "x", Tensor: x})))
	_ = open(t, large) // a limit is positive
	defer mapping.SetLimit(mapping.Live())()
	live := mapping.Live()
	_, err := nrt.Open(large)
	require.ErrorIs(t, err, nrt.ErrLimit)
	require.ErrorContains(t, err, "open "+large+": too many mapped files: the process has ")
	f := open(t, saved(t, visits()))
	require.Equal(t, live, mapping.Live())
	require.True(t, visits().Equal(f.Joint))
	v := tensor.Must(tensor.Must(f.Tensor("v")).Values())
	require.NoError(t, f.Close())
	require.ErrorIs(t, testkit.Err(v.Clone()), nrt.ErrClosed)
}

// A writerFunc is an io.Writer.
type writerFunc func(b []byte) (int, error)

func (w writerFunc) Write(b []byte) (int, error) { return w(b) }

func TestClose(t *testing.T) {
	live := mapping.Live()
	f := open(t, saved(t, visits()))
	v := tensor.Must(tensor.Must(f.Tensor("v")).Values())
	row := tensor.Must(f.Row(1))
	require.Equal(t, live+1, mapping.Live())
	require.NoError(t, f.Close())
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, f.Close(), nrt.ErrClosed)
	require.NoError(t, f.CloseWait(t.Context()))

	require.ErrorIs(t, testkit.Err(v.Clone()), nrt.ErrClosed)
	require.ErrorIs(t, nrt.Write(&bytes.Buffer{}, row), nrt.ErrClosed)
	require.ErrorIs(t, nrt.Save(filepath.Join(t.TempDir(), "x"), f.Joint), nrt.ErrClosed)
	require.Equal(t, visits().String(), f.String(), "what is known without values stays")

	require.ErrorIs(t, new(nrt.File).Close(), nrt.ErrClosed)
	require.ErrorIs(t, new(nrt.File).CloseWait(t.Context()), nrt.ErrClosed)
}

// TestCloseWhileUsed closes a file in a function that an operation on it calls.
func TestCloseWhileUsed(t *testing.T) {
	live := mapping.Live()
	f := open(t, saved(t, visits()))
	v := tensor.Must(tensor.Must(f.Tensor("v")).Values())
	var got bytes.Buffer
	_, err := v.WriteTo(writerFunc(func(b []byte) (int, error) {
		require.NoError(t, f.Close())
		require.Equal(t, live+1, mapping.Live())
		return got.Write(b)
	}))
	require.NoError(t, err)
	require.Equal(t, []byte{3, 0, 3, 4, 5, 2}, got.Bytes())
	require.Equal(t, live, mapping.Live())
	require.ErrorIs(t, testkit.Err(v.Clone()), nrt.ErrClosed)
}

// A file that nobody holds any more is unmapped, but not while somebody holds a field.
func TestDropped(t *testing.T) {
	live := mapping.Live()
	f := tensor.Must(nrt.Open(saved(t, visits())))
	v := tensor.Must(f.Tensor("v"))
	f = nil
	runtime.GC()
	runtime.GC()
	require.Equal(t, live+1, mapping.Live())
	runtime.KeepAlive(v)
	v = nil
	require.Eventually(t, func() bool { runtime.GC(); return mapping.Live() == live }, 10*time.Second, time.Millisecond)
	require.Nil(t, f)
	require.Nil(t, v)
}

// Opening takes memory in proportion to the number of fields.
func TestManyFields(t *testing.T) {
	path := func(n int) string {
		arrays := []array{ints("dim1/bounds", 2, 3)}
		for i := range n {
			arrays = append(arrays, bytesOf(fmt.Sprintf("dim1/x%d", i), 1, 2, 3))
		}
		return put(t, fileOf(t, arrays...))
	}
	a, b := path(1000), path(4000)
	testkit.Near(t, 4.6, func() { _ = open(t, a) }, func() { _ = open(t, b) })
}

// Slices of values alias the file, until Close.
func TestOfMappedValues(t *testing.T) {
	f := open(t, saved(t, mixed()))
	z := tensor.Must(tensor.Must(f.Tensor("z")).Values())
	require.Equal(t, []float32{1.5, 2.5}, tensor.Must(tensor.Of[float32](z)))
	require.NoError(t, f.Close())
	require.ErrorIs(t, testkit.Err(tensor.Of[float32](z)), nrt.ErrClosed)
}

// TestErrorsAreFileErrors: errors of opening are of one type, whatever they are about.
func TestErrorsAreFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	_, err := nrt.Open(path)
	require.IsType(t, &nrt.FileError{}, err)
	for _, content := range []string{"nothing", visitsFile[:len(visitsFile)-1], strings.Replace(visitsFile, "I64", "U64", 1)} {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o666))
		_, err := nrt.Open(path)
		require.IsType(t, &nrt.FileError{}, err)
	}
}

// Bounds that are copied are counted before there is memory for them: by MaxCopy, and by default,
// of a file that is large and empty.
func TestBoundsAreLimited(t *testing.T) {
	const rows = 1000
	l := tensor.Must(ragged.LayoutOf([]int{rows}, make([]int64, rows)))
	path := saved(t, tensor.Must(joint.New(joint.Field{Name: "x", Tensor: tensor.Must(ragged.New(tensor.Vector[int8](), l))})))
	_, err := nrt.OpenWith(path, nrt.Options{MaxCopy: 8 * rows})
	require.ErrorIs(t, err, nrt.ErrUnsupported)
	require.ErrorContains(t, err, "raise MaxCopy")
	require.IsType(t, &nrt.FileError{}, err)
	for _, most := range []int64{8 * (rows + 1), 0, -1} { // the last two are the default
		f, err := nrt.OpenWith(path, nrt.Options{MaxCopy: most})
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}

	const bounds = 1 << 31
	header := fmt.Sprintf(`{"dim1/bounds":{"dtype":"I64","shape":[%d],"data_offsets":[0,%d]},"dim1/v":{"dtype":"U8","shape":[0],"data_offsets":[%[2]d,%[2]d]}}`, bounds, 8*bounds)
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	empty := filepath.Join(t.TempDir(), "empty.nrt")
	require.NoError(t, os.WriteFile(empty, append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), 0o666))
	require.NoError(t, os.Truncate(empty, int64(8+len(header))+8*bounds)) // without room on disk
	testkit.MaxBytes(t, 1<<20, func() { _, err = nrt.Open(empty) })
	require.ErrorIs(t, err, nrt.ErrUnsupported)
}
