package tdparquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/interop/arrow/tdparquet"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// small returns small files of all kinds of entries, by the compression.
func small(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	entries := tdict.Entries{
		"i": tensor.Vector[int64](1, 2, 3), "m": tensor.Vector[int32](5, 0, 7), "m_mask": tensor.Vector(true, false, true),
		"f": tensor.Must(tensor.From([]float32{1, 2, 3, 4, 5, 6}, 3, 2)), "c": tensor.Vector[int32](0, 1, 0),
		"s": tensor.Must(ragged.FromStrings([]string{"a", "bcd", ""})), "r": tensor.Must(ragged.From[int16]([][]int16{{1, 2}, {}, {3}})),
		"n/x": tensor.Vector[uint8](1, 2, 3), "n/y": tensor.Vector(true, false, true), "h": tensor.Must(tensor.Vector[float32](1, 2, 3).Cast(tensor.Float16)),
	}
	td, err := tdict.FromMap([]int{3}, entries)
	require.NoError(t, err)
	schema := tdict.SchemaOf(td)
	for i := range schema {
		switch s := &schema[i]; s.Key {
		case "m":
			s.Mask = "m_mask"
		case "s":
			*s = tdict.Spec{Key: "s", Kind: tdict.KindText}
		case "c":
			s.Categories = []string{"x", "y"}
		}
	}
	for _, c := range []string{"none", "snappy", "zstd", "gzip"} {
		files[c] = write(t, td, schema, tdparquet.WriteOptions{Compression: c})
	}
	return files
}

// opened reads a file, and returns the number of rows and the error.
func opened(b []byte, opt tdparquet.Options) (rows int, err error) {
	if _, err = tdparquet.Infer(bytes.NewReader(b), int64(len(b)), opt); err != nil {
		return 0, err
	}
	for td, err := range tdparquet.Read(bg, bytes.NewReader(b), int64(len(b)), opt) {
		if err != nil {
			return rows, err
		}
		if rows += td.Shape()[0]; rows > 1<<20 {
			return rows, nil // a run of one value
		}
		for _, leaf := range td.Leaves() {
			switch leaf := leaf.(type) {
			case *tensor.Tensor:
				_ = leaf.String()
			case *ragged.Tensor:
				_ = leaf.String()
			}
		}
	}
	return rows, nil
}

// allocated returns the bytes that were allocated since the process began.
func allocated() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// requireSound requires that reading b ends, allocates little, and that an error is a known one.
func requireSound(t testing.TB, b []byte, what string) {
	t.Helper()
	before := allocated()
	_, err := opened(b, tdparquet.Options{MaxMemory: 16 << 20})
	require.Less(t, allocated()-before, uint64(256<<20), "%s: %v", what, err)
	if err != nil {
		at, ok := errors.AsType[*tdparquet.ColumnError](err)
		require.True(t, ok, "%s: %T %v", what, err, err)
		require.NotContains(t, at.Error(), "runtime error: nil", what)
	}
}

// TestEachByteChanged changes each byte of small files: an error or other values, but no panic, and
// bounded memory.
func TestEachByteChanged(t *testing.T) {
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			n, err := opened(b, tdparquet.Options{})
			require.NoError(t, err)
			require.Equal(t, 3, n)
			step := longtests.Times(97, 1) // all bytes take a minute
			for at := rand.IntN(step); at < len(b); at += step {
				for _, flip := range []byte{0xff, 1, 0x80} {
					bad := bytes.Clone(b)
					bad[at] ^= flip
					requireSound(t, bad, fmt.Sprintf("byte %d ^ %#x", at, flip))
				}
			}
		})
	}
}

// TestEachCut cuts small files at each byte, and leaves bytes out at the beginning.
func TestEachCut(t *testing.T) {
	b := small(t)["snappy"]
	for at := 0; at < len(b); at += longtests.Times(3, 1) {
		for _, bad := range [][]byte{b[:at], b[at:], append(bytes.Clone(b[:at]), b[min(len(b), at+3):]...)} {
			if at == 0 && len(bad) == len(b) {
				continue
			}
			_, err := opened(bad, tdparquet.Options{})
			require.Error(t, err, at)
			requireSound(t, bad, fmt.Sprint("cut at ", at))
		}
	}
}

// TestErrorsSayWhere names the file, the row group and the column.
func TestErrorsSayWhere(t *testing.T) {
	b := small(t)["none"]
	at := bytes.Index(b, []byte("\x01\x00\x00\x00a\x03\x00\x00\x00bcd"))
	require.Positive(t, at)
	b[at] = 100
	_, err := opened(b, tdparquet.Options{})
	require.ErrorIs(t, err, tdparquet.ErrCorrupt)
	require.ErrorContains(t, err, `row group 0: column "s": `)
}

// TestMemory refuses what takes more than MaxMemory, and says what to do.
func TestMemory(t *testing.T) {
	const n = 1 << 20
	td, err := tdict.FromMap([]int{n}, tdict.Entries{"x": tensor.Must(tensor.New(tensor.Float64, n))})
	require.NoError(t, err)
	b := write(t, td, tdict.SchemaOf(td), tdparquet.WriteOptions{})
	_, err = opened(b, tdparquet.Options{MaxMemory: 1 << 20, Rows: 1 << 18})
	require.ErrorIs(t, err, tdparquet.ErrMemory)
	require.ErrorContains(t, err, "raise MaxMemory")
	rows, err := opened(b, tdparquet.Options{MaxMemory: 4 << 20, Rows: 1 << 10})
	require.NoError(t, err)
	require.Equal(t, n, rows)
}

// TestReaderErrors returns the error of the reader, wherever it fails.
func TestReaderErrors(t *testing.T) {
	b := small(t)["zstd"]
	for n := range 200 {
		r := &failing{r: bytes.NewReader(b)}
		r.left.Store(int64(n))
		var err error
		for _, err = range tdparquet.Read(bg, r, int64(len(b)), tdparquet.Options{}) {
			if err != nil {
				break
			}
		}
		if r.left.Load() >= 0 {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, errFails, n)
	}
	t.Fatal("it reads more often than expected")
}

var errFails = errors.New("the disk fails")

// A failing fails after some reads.
type failing struct {
	r    io.ReaderAt
	left atomic.Int64
}

func (f *failing) ReadAt(b []byte, at int64) (int, error) {
	if f.left.Add(-1) < 0 {
		return 0, errFails
	}
	return f.r.ReadAt(b, at)
}

// FuzzFooter changes the footer of a small file.
func FuzzFooter(f *testing.F) {
	b := small(f)["snappy"]
	n := int(b[len(b)-8]) | int(b[len(b)-7])<<8 | int(b[len(b)-6])<<16
	pages, footer := b[:len(b)-8-n], b[len(b)-8-n:len(b)-8]
	f.Add(footer)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, footer []byte) {
		file := append(bytes.Clone(pages), footer...)
		file = append(file, byte(len(footer)), byte(len(footer)>>8), byte(len(footer)>>16), byte(len(footer)>>24))
		requireSound(t, append(file, "PAR1"...), "footer")
	})
}

// FuzzPages changes the pages of a small file.
func FuzzPages(f *testing.F) {
	b := small(f)["none"]
	n := int(b[len(b)-8]) | int(b[len(b)-7])<<8 | int(b[len(b)-6])<<16
	pages, footer := b[4:len(b)-8-n], b[len(b)-8-n:]
	f.Add(pages)
	f.Fuzz(func(t *testing.T, pages []byte) {
		requireSound(t, append(append([]byte("PAR1"), pages...), footer...), "pages")
	})
}
