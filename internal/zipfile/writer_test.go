package zipfile_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/internal/zipfile"
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
			payload, err := w.Create(zipfile.Header{Name: name, Deflate: deflate, Aligned: i%3 > 0})
			require.NoError(t, err)
			for rest := text; len(rest) > 0; {
				n := 1 + random.IntN(len(rest))
				_, err = payload.Write(rest[:n])
				require.NoError(t, err)
				rest = rest[n:]
			}
			want = append(want, name, string(text))
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	a := open(t, file)
	requireOracle(t, file, a)
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
	requireOracle(t, file, a)
	for _, e := range a.Entries {
		require.True(t, e.Method == zipfile.Deflate || e.Offset%64 == 0, "%d", e.Offset)
	}
}

func TestWriterRefuses(t *testing.T) {
	date := func(year int) time.Time { return time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC) }
	tests := []struct {
		name   string
		header zipfile.Header
		err    error
	}{
		{"a name that leads out", zipfile.Header{Name: "../x"}, zipfile.ErrUnsupported},
		{"a name that is too long", zipfile.Header{Name: strings.Repeat("n", 65_536)}, zipfile.ErrUnsupported},
		{"a directory", zipfile.Header{Name: "x/"}, zipfile.ErrUnsupported},
		{"a name that is there", zipfile.Header{Name: "there"}, fs.ErrExist},
		{"a mode", zipfile.Header{Name: "x", Perm: fs.ModeSymlink | 0o644}, zipfile.ErrUnsupported},
		{"a time before the format's first", zipfile.Header{Name: "x", Modified: date(1979)}, zipfile.ErrUnsupported},
		{"a time after the format's last", zipfile.Header{Name: "x", Modified: date(2108)}, zipfile.ErrUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := zipfile.NewWriter(new(memory))
			_, err := w.Create(zipfile.Header{Name: "there"})
			require.NoError(t, err)
			p, err := w.Create(tt.header)
			testkit.Fails(t, tt.err, err)
			require.Nil(t, p)
			require.Equal(t, err, w.Close(), "the error stays")
			_, again := w.Create(zipfile.Header{Name: "y"})
			require.Equal(t, err, again)
		})
	}
}

func TestWriterAfterTheEnd(t *testing.T) {
	w := zipfile.NewWriter(new(memory))
	a, err := w.Create(zipfile.Header{Name: "a"})
	require.NoError(t, err)
	b, err := w.Create(zipfile.Header{Name: "b"})
	require.NoError(t, err)
	_, err = a.Write([]byte("x"))
	require.ErrorIs(t, err, fs.ErrClosed, "another entry has begun")
	require.NoError(t, w.Close())
	_, err = b.Write([]byte("x"))
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, w.Close(), fs.ErrClosed)
	_, err = w.Create(zipfile.Header{Name: "c"})
	require.ErrorIs(t, err, fs.ErrClosed)
}

// TestWriterFaults fails every operation of the disk: the Writer says so, at the latest at its end.
// What it wrote and synced without an error survives a crash.
func TestWriterFaults(t *testing.T) {
	save := func(d *vfstest.Disk) error {
		f, err := d.Create("x.zip", 0o666)
		if err != nil {
			return err
		}
		w := zipfile.NewWriter(f)
		for i, size := range []int{10, 70_000, 20, 100_000} {
			payload, err := w.Create(zipfile.Header{Name: fmt.Sprint(i), Deflate: i == 3, Aligned: true})
			if err != nil {
				return err
			}
			if _, err := io.Copy(payload, io.LimitReader(rand.NewChaCha8([32]byte{}), int64(size))); err != nil {
				return err
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		return d.SyncDir(".")
	}
	for n := 1; ; n++ {
		disk := vfstest.New()
		disk.FailOnce(n)
		if err := save(disk); err != nil {
			require.ErrorIs(t, err, vfstest.ErrInjected)
			continue
		}
		require.Greater(t, n, 8)
		for _, mode := range vfstest.CrashModes() {
			file, err := fs.ReadFile(disk.Crash(mode).Tree(), "x.zip")
			require.NoError(t, err)
			require.Len(t, contents(t, file), 8)
		}
		return
	}
}

// TestWriterMemory checks that memory does not grow with what is written.
func TestWriterMemory(t *testing.T) {
	piece := make([]byte, 1<<20)
	testkit.MaxBytes(t, 2<<20, func() {
		w := zipfile.NewWriter(new(nowhere))
		for _, h := range []zipfile.Header{{Name: "stored"}, {Name: "packed", Deflate: true}} {
			payload, err := w.Create(h)
			require.NoError(t, err)
			for range 16 {
				_, err = payload.Write(piece)
				require.NoError(t, err)
			}
		}
		require.NoError(t, w.Close())
	})
}

// nowhere keeps nothing.
type nowhere struct{}

func (*nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (*nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

func BenchmarkWriter(b *testing.B) {
	content := bytes.Repeat([]byte("elements"), 1<<20)
	for _, size := range []int{8, 8 << 10, 8 << 20} {
		for _, how := range []string{"zip", "write"} {
			b.Run(fmt.Sprintf("size=%d/how=%s", size, how), func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				if size == 8 {
					b.SetBytes(8 * 10_000)
				}
				for b.Loop() {
					f, err := os.Create(filepath.Join(b.TempDir(), "x"))
					require.NoError(b, err)
					writeAll(b, f, how, content[:size], int(min(10_000, len(content)/size)))
					require.NoError(b, f.Close())
				}
			})
		}
	}
}

// writeAll writes a content n times, as an archive or plainly.
func writeAll(b *testing.B, f *os.File, how string, content []byte, n int) {
	if how == "write" {
		for range n {
			_, err := f.Write(content)
			require.NoError(b, err)
		}
		return
	}
	w := zipfile.NewWriter(f)
	for i := range n {
		payload, err := w.Create(zipfile.Header{Name: fmt.Sprint(i), Aligned: true})
		require.NoError(b, err)
		_, err = payload.Write(content)
		require.NoError(b, err)
	}
	require.NoError(b, w.Close())
}

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
