package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/google/go-cmp/cmp"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tdictcmp"
	"github.com/go-tensordict/tensordict/tensor"
)

// sample returns a dictionary of batch shape [] with elements that depend on n.
func sample(t testing.TB, n int) *tdict.TensorDict {
	td := tdict.New()
	set := func(key nestedkey.Key, x *tensor.Tensor) { require.NoError(t, td.Set(key, x)) }
	set(nestedkey.Of("a~"), tensor.Vector(complex(float32(n), 1)))
	set("done", tensor.Vector(n%2 == 0, true))
	set("half", tensor.Must(tensor.Vector(float32(n), 1).Cast(tensor.BFloat16)))
	set("image", tensor.Must(tensor.Vector(uint8(n), 1, 2, 3, 4, 5).Reshape(2, 3)))
	set("label", tensor.Must(tensor.Vector(int64(n)).Reshape()))
	set("none", tensor.Must(tensor.New(tensor.Float64, 0, 4)))
	set("obs/pos", tensor.Vector(float32(n), 2))
	return td
}

// file returns the bytes of a file.
func file(t testing.TB, td *tdict.TensorDict, metadata map[string]string) []byte {
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, td, safetensors.SaveOptions{Metadata: metadata}))
	return b.Bytes()
}

// TestReadInto reads files one after the other, whose headers are equal and not.
func TestReadInto(t *testing.T) {
	for _, tt := range []struct {
		name string
		from func(r io.Reader) io.Reader
	}{
		{"at once", func(r io.Reader) io.Reader { return r }},
		{"a byte at a time", iotest.OneByteReader},
		{"the end with the last bytes", iotest.DataErrReader},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stream bytes.Buffer
			var sizes []int
			for n := range 6 {
				var metadata map[string]string
				if n > 2 {
					metadata = map[string]string{"n": fmt.Sprint(n)}
				}
				b := file(t, sample(t, n), metadata)
				stream.Write(b)
				sizes = append(sizes, len(b))
			}
			r := safetensors.NewReader(tt.from(&stream))
			for n, size := range sizes {
				td := sample(t, 100)
				td.Lock("elements may be written")
				require.NoError(t, r.ReadInto(td, int64(size)))
				require.Empty(t, cmp.Diff(sample(t, n), td, tdictcmp.Options))
			}
			require.ErrorIs(t, r.ReadInto(sample(t, 0), 100), io.ErrUnexpectedEOF)
		})
	}
}

// TestReadIntoRefuses has files that are not read; the elements stay as they were if the header is
// wrong.
func TestReadIntoRefuses(t *testing.T) {
	good := file(t, sample(t, 1), nil)
	other := func(change func(td *tdict.TensorDict)) []byte {
		td := sample(t, 1)
		change(td)
		return file(t, td, nil)
	}
	for _, tt := range []struct {
		name string
		b    []byte
		size int
		err  error
		says string
	}{
		{"no size", good, 0, safetensors.ErrCorrupt, "got a file of 0 bytes, want at least 8"},
		{"a negative size", good, -1, safetensors.ErrCorrupt, "got a file of -1 bytes"},
		{"a smaller size", good, len(good) - 1, safetensors.ErrCorrupt, ""},
		{"a larger size", good, len(good) + 1, safetensors.ErrCorrupt, ""},
		{"a size without the header", good, 20, safetensors.ErrCorrupt, "in a file of 20"},
		{"cut in the length", good[:7], len(good), io.ErrUnexpectedEOF, ""},
		{"cut in the header", good[:50], len(good), io.ErrUnexpectedEOF, ""},
		{"cut in the data", good[:len(good)-1], len(good), io.ErrUnexpectedEOF, ""},
		{"a long header", append(binary.LittleEndian.AppendUint64(nil, 1<<62), good...), 1 << 62, safetensors.ErrCorrupt, "want at most 100000000"},
		{"a header that never comes", append(binary.LittleEndian.AppendUint64(nil, 90_000_000), good...), 1 << 40, io.ErrUnexpectedEOF, ""},
		{"text", []byte("0.1 0.2 0.3 0.4 0.5 0.6\n"), 24, safetensors.ErrCorrupt, ""},
		{"a tensor more", other(func(td *tdict.TensorDict) { require.NoError(t, td.Set("more", tensor.Vector(1.0))) }), 0, tdict.ErrSchema, `"more": schema mismatch: got a tensor that is not wanted`},
		{"a tensor less", other(func(td *tdict.TensorDict) { require.NoError(t, td.Delete("label")) }), 0, tdict.ErrSchema, `got no tensor "label"`},
		{"another dtype", other(func(td *tdict.TensorDict) { require.NoError(t, td.Set("obs/pos", tensor.Vector(1.0, 2))) }), 0, tdict.ErrSchema, `"obs.pos": schema mismatch: got float64 [2], want float32 [2]`},
		{"another shape", other(func(td *tdict.TensorDict) { require.NoError(t, td.Set("obs/pos", tensor.Vector[float32](1, 2, 3))) }), 0, tdict.ErrSchema, `got float32 [3], want float32 [2]`},
		{"a bool of 2", func() []byte {
			b := bytes.Clone(good)
			b[len(b)-2] = 2 // the bools come last
			return b
		}(), len(good), safetensors.ErrCorrupt, `"done": corrupt: got byte 2 for the bool with index 0`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			size := tt.size
			if size == 0 && errors.Is(tt.err, tdict.ErrSchema) {
				size = len(tt.b)
			}
			td := sample(t, 7)
			err := safetensors.NewReader(bytes.NewReader(tt.b)).ReadInto(td, int64(size))
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.says)
			if errors.Is(tt.err, tdict.ErrSchema) {
				require.Empty(t, cmp.Diff(sample(t, 7), td, tdictcmp.Options), "no element has changed")
			}
			_, ok := errors.AsType[*safetensors.FileError](err)
			require.True(t, ok, "%T", err)
		})
	}
	require.ErrorIs(t, safetensors.NewReader(nil).ReadInto(tdict.New(), 10), safetensors.ErrClosed)
	require.ErrorIs(t, (*safetensors.Reader)(nil).ReadInto(tdict.New(), 10), safetensors.ErrClosed)
	require.Error(t, safetensors.NewReader(bytes.NewReader(good)).ReadInto(nil, int64(len(good))))
}

// TestReadIntoChangedBytes changes each byte of a file, and reads it after the right one, whose
// header is remembered. If Open reads a file with the entries of the sample, so does ReadInto, with
// the same elements; otherwise it refuses the file.
func TestReadIntoChangedBytes(t *testing.T) {
	good, schema := file(t, sample(t, 1), nil), tdict.SchemaOf(sample(t, 1)).String()
	read := 0
	for i := range good {
		b := bytes.Clone(good)
		b[i] ^= 1 << (i % 8)
		td := sample(t, 2)
		r := safetensors.NewReader(io.MultiReader(bytes.NewReader(good), bytes.NewReader(b)))
		require.NoError(t, r.ReadInto(td, int64(len(good))))
		got := r.ReadInto(td, int64(len(b)))
		path := filepath.Join(t.TempDir(), "one")
		require.NoError(t, os.WriteFile(path, b, 0o666))
		f, err := safetensors.OpenWith(path, safetensors.Options{BatchDims: -1})
		switch {
		case err != nil || tdict.SchemaOf(f.TensorDict).String() != schema:
			require.Error(t, got, "byte %d", i)
		case got != nil:
			require.ErrorContains(t, got, "bool", "byte %d", i)
		default:
			read++
			require.Empty(t, cmp.Diff(f.TensorDict, td, tdictcmp.Options), "byte %d", i)
		}
		if err == nil {
			require.NoError(t, f.Close())
		}
	}
	require.Greater(t, read, 10)
}

// FuzzReadInto reads any bytes after a file: without a panic, in the memory of the file.
func FuzzReadInto(f *testing.F) {
	good := file(f, sample(f, 1), map[string]string{"by": "me"})
	f.Add(good, int64(len(good)))
	f.Add(good[:40], int64(1)<<40)
	td := sample(f, 2)
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		r := safetensors.NewReader(io.MultiReader(bytes.NewReader(good), bytes.NewReader(b), bytes.NewReader(good)))
		require.NoError(t, r.ReadInto(td, int64(len(good))))
		var err error
		testkit.MaxBytes(t, uint64(100_000+50*len(b)), func() { err = r.ReadInto(td, size) })
		if err == nil {
			require.LessOrEqual(t, size, int64(len(b)+len(good)))
			require.Equal(t, tdict.SchemaOf(sample(t, 1)).String(), tdict.SchemaOf(td).String())
		}
	})
}

// TestReadIntoMemory reads a large sample, and one whose header says that it is long: neither needs
// memory for it.
func TestReadIntoMemory(t *testing.T) {
	td := tdict.New()
	require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Uint8, 32<<20))))
	b := file(t, td, nil)
	lies := append(binary.LittleEndian.AppendUint64(nil, 90_000_000), strings.Repeat(" ", 10_000)...)
	testkit.MaxBytes(t, 1<<20, func() {
		require.NoError(t, safetensors.NewReader(bytes.NewReader(b)).ReadInto(td, int64(len(b))))
		require.Error(t, safetensors.NewReader(bytes.NewReader(lies)).ReadInto(td, 1<<40))
	})
}
