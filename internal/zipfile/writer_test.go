package zipfile_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestWriterSizes writes contents around the size of the buffer, in pieces, to a real file: headers
// are changed in the buffer and in the file.
func TestWriterSizes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "x.zip")
	f, err := vfs.OS.Create(path, 0o666)
	require.NoError(t, err)
	w := zipfile.NewWriter(f)
	var want []string
	for i, size := range []int{0, 1, 63, 64, 65, 1000, 65_000, 65_535, 65_536, 65_537, 200_000, 0, 70_000, 5} {
		for _, deflate := range []bool{false, true} {
			text := make([]byte, size)
			for j := range text {
				text[j] = byte(random.IntN(9))
			}
			name := fmt.Sprintf("%d/%v", i, deflate)
			require.NoError(t, w.Add(zipfile.Header{Name: name, Deflate: deflate, Aligned: i%3 > 0}, func(payload io.Writer) error {
				for rest := text; len(rest) > 0; {
					n := 1 + random.IntN(len(rest))
					if _, err := payload.Write(rest[:n]); err != nil {
						return err
					}
					rest = rest[n:]
				}
				return nil
			}))
			want = append(want, name, string(text))
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, contents(t, file))
}

// TestWriterAligns checks where payloads lie, whatever the names.
func TestWriterAligns(t *testing.T) {
	var entries []any
	for n := range 130 {
		entries = append(entries, zipfile.Header{Name: strings.Repeat("n", n+1), Aligned: true}, "x")
		entries = append(entries, zipfile.Header{Name: strings.Repeat("é", n+1), Aligned: true, Deflate: true}, "x")
	}
	entries = append(entries, zipfile.Header{Name: strings.Repeat("n", 65_535), Aligned: true}, "x")
	file := write(t, entries...)
	a := open(t, file)
	for _, e := range a.Entries {
		require.True(t, e.Method == zipfile.Deflate || e.Offset%64 == 0, "%d", e.Offset)
	}
}

func TestWriterRefuses(t *testing.T) {
	for _, name := range []string{"", "../x", "a//x", `..\x`, strings.Repeat("n", 65_536)} {
		w := zipfile.NewWriter(new(memory))
		require.ErrorIs(t, w.Add(zipfile.Header{Name: name}, text("x")), zipfile.ErrUnsupported)
	}
	w := zipfile.NewWriter(new(memory))
	require.Equal(t, errDisk, w.Add(zipfile.Header{Name: "x"}, func(io.Writer) error { return errDisk }))
}

// TestWriterTime checks that the clock of a time counts, in steps of two seconds.
func TestWriterTime(t *testing.T) {
	date := func(year int) time.Time { return time.Date(year, 11, 21, 2, 0, 43, 5, time.FixedZone("", 3600)) }
	first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	for given, want := range map[time.Time]time.Time{
		date(2026):  time.Date(2026, 11, 21, 2, 0, 42, 0, time.UTC),
		date(2107):  time.Date(2107, 11, 21, 2, 0, 42, 0, time.UTC),
		date(1979):  first,
		date(2108):  first,
		time.Time{}: first,
	} {
		file := write(t, zipfile.Header{Name: "a", Modified: given}, "")
		z := tensor.Must(zip.NewReader(bytes.NewReader(file), int64(len(file))))
		require.Equal(t, want, z.File[0].Modified, "%v", given)
	}
}

// TestWriterMemory checks that memory does not grow with what is written.
func TestWriterMemory(t *testing.T) {
	piece := make([]byte, 1<<20)
	testkit.MaxBytes(t, 2<<20, func() {
		w := zipfile.NewWriter(new(nowhere))
		for _, h := range []zipfile.Header{{Name: "stored"}, {Name: "packed", Deflate: true}} {
			require.NoError(t, w.Add(h, func(payload io.Writer) error {
				for range 16 {
					if _, err := payload.Write(piece); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		require.NoError(t, w.Close())
	})
}

// nowhere keeps nothing.
type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (*nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// TestStartsWith tells what a Writer began from what others did.
func TestStartsWith(t *testing.T) {
	ours := write(t, zipfile.Header{Name: "a"}, "x", zipfile.Header{Name: "b"}, "y")
	tests := []struct {
		name string
		file []byte
		want bool
	}{
		{"an archive", ours, true},
		{"cut after the first header", ours[:60], true},
		{"cut in the first name", ours[:30], false},
		{"another first name", write(t, zipfile.Header{Name: "b"}, "x"), false},
		{"a longer first name", write(t, zipfile.Header{Name: "ab"}, "x"), false},
		{"sizes of 32 bits", foreign(t, stored("a", "x")), false},
		{"nothing", nil, false},
		{"text", []byte(strings.Repeat("a", 100)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := zipfile.StartsWith(bytes.NewReader(tt.file), "a")
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	_, err := zipfile.StartsWith(&failing{bytes.NewReader(ours), 0}, "a")
	require.ErrorIs(t, err, errDisk)
}
