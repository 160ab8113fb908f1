package tdarrow_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/interop/arrow/tdarrow"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// promised reports whether an error is one that Read promises for a file.
func promised(err error) bool {
	var at *tdarrow.ColumnError
	if !errors.As(err, &at) {
		return false
	}
	for _, want := range []error{
		tdarrow.ErrCorrupt, io.ErrUnexpectedEOF, tdarrow.ErrUnsupported, tdarrow.ErrMemory, tdarrow.ErrType, tdarrow.ErrArray,
		tdarrow.ErrNull, tdict.ErrSchema, tdict.ErrMissing, ragged.ErrOffsets, shapeops.ErrIndex, nestedkey.ErrKey,
	} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// readAll reads all elements of all chunks. It returns the error, or one that is not promised.
func readAll(chunks iter.Seq2[*tdict.TensorDict, error]) error {
	for td, err := range chunks {
		if err == nil {
			_, err = td.Clone()
			if err != nil {
				return errors.New("clone: " + err.Error())
			}
			continue
		}
		if !promised(err) {
			return errors.New("not promised: " + err.Error())
		}
		return err
	}
	return nil
}

// hostile are small files with an entry of each kind.
func hostile(t testing.TB) map[string][]byte {
	td, schema := visits(t, 5)
	files := map[string][]byte{
		"file":   written(t, schema, tdarrow.WriteOptions{}, td),
		"stream": written(t, schema, tdarrow.WriteOptions{Stream: true, Compression: "lz4"}, td),
	}
	rec := allTypes(t)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(rec.Schema()))
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	files["types"] = b.Bytes()
	for _, name := range []string{"js.arrow", "js.arrows"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		require.NoError(t, err)
		files[name] = b
	}
	return files
}

// TestBytesChanged changes each third byte of small files, and reads all elements of what is left.
// The tests of package message change each byte.
func TestBytesChanged(t *testing.T) {
	ctx := context.Background()
	for name, b := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			opt := tdarrow.Options{MaxMemory: 1 << 20}
			failed, most := 0, int64(0)
			path := filepath.Join(t.TempDir(), "x")
			for i := 0; i < len(b); i += 3 {
				was := b[i]
				b[i] = []byte{0xff, was ^ 1}[i%2]
				opt.Rows = i / 3 % 3
				var err error
				before := allocated()
				if name == "stream" || name == "js.arrows" {
					err = readAll(tdarrow.Read(ctx, bytes.NewReader(b), opt))
				} else {
					_ = os.Remove(path) // a file that is cut and written again is flushed to the disk
					require.NoError(t, os.WriteFile(path, b, 0o666))
					err = readAll(tdarrow.ReadFile(ctx, path, opt))
				}
				most = max(most, allocated()-before)
				require.True(t, err == nil || promised(err), "byte %d: %v", i, err)
				if err != nil {
					failed++
				}
				b[i] = was
			}
			require.NotZero(t, failed)
			t.Logf("%d bytes: %d changes are errors; at most %d bytes allocated", len(b), failed, most)
			require.Less(t, most, int64(4<<20))
		})
	}
}

// FuzzRead reads any bytes as a stream, and FuzzReadFile as a file, to the effect: all elements.
func FuzzRead(f *testing.F) {
	for _, b := range hostile(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		err := readAll(tdarrow.Read(context.Background(), bytes.NewReader(b), tdarrow.Options{MaxMemory: 1 << 20, Rows: len(b) % 3}))
		if err != nil && !promised(err) {
			t.Fatal(err)
		}
	})
}

func FuzzReadFile(f *testing.F) {
	for _, b := range hostile(f) {
		f.Add(b)
	}
	path := filepath.Join(f.TempDir(), "x")
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		err := readAll(tdarrow.ReadFile(context.Background(), path, tdarrow.Options{MaxMemory: 1 << 20, Rows: len(b) % 3}))
		if err != nil && !promised(err) {
			t.Fatal(err)
		}
	})
}

// TestRowsOfBadOffsets: an offset between valid ones lies, and is the last one of the rows of a
// chunk, where the library's slices panic.
func TestRowsOfBadOffsets(t *testing.T) {
	text := tensor.Must(ragged.FromStrings([]string{"a", "b", "c"}))
	td := tensor.Must(tdict.FromMap(shapeops.Shape{3}, tdict.Entries{"s": text}))
	for _, opt := range []tdarrow.WriteOptions{{}, {Stream: true}} {
		b := written(t, tdict.Schema{{Key: "s", Kind: tdict.KindText}}, opt, td)
		at := bytes.Index(b, cast.Bytes([]int64{0, 1, 2, 3}))
		require.Positive(t, at)
		b[at+9] = 1
		require.ErrorIs(t, readAll(tdarrow.Read(t.Context(), bytes.NewReader(b), tdarrow.Options{Rows: 1})), tdarrow.ErrArray)
		require.ErrorIs(t, readAll(tdarrow.ReadFile(t.Context(), onDisk(t, b), tdarrow.Options{Rows: 1})), tdarrow.ErrArray)
	}
}
