package source_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/source"
)

// gz returns a text as gzip.
func gz(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// zst returns a text as zstd.
func zst(text string, opt ...zstd.EOption) string {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, opt...)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// u16 returns a text as UTF-16 with a mark.
func u16(text string, big bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		if big {
			b = append(b, byte(u>>8), byte(u))
		} else {
			b = append(b, byte(u), byte(u>>8))
		}
	}
	return string(b)
}

func TestOpen(t *testing.T) {
	long := strings.Repeat("a,é😀\n", 20_000)
	tests := []struct{ name, file, want string }{
		{"nothing", "", ""},
		{"a short text", "a\n", "a\n"},
		{"a text", long, long},
		{"bytes that are not UTF-8", "a\xff\n", "a\xff\n"},
		{"a mark of UTF-8", "\ufeffa\n", "\ufeffa\n"},
		{"a text with 0", "ab\x00\x00\n", "ab\x00\x00\n"},
		{"gzip", gz(long), long},
		{"gzip of nothing", gz(""), ""},
		{"gzip end to end", gz("a\n") + gz("") + gz("b\n"), "a\nb\n"},
		{"zstd", zst(long), long},
		{"zstd with a frame to skip", "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zst("a\n"), "a\n"},
		{"zstd end to end", zst("a\n") + zst("b\n"), "a\nb\n"},
		{"UTF-16", u16(long, false), "\ufeff" + long},
		{"UTF-16, the high byte first", u16(long, true), "\ufeff" + long},
		{"a mark of UTF-16", u16("", false), "\ufeff"},
		{"UTF-16 in gzip", gz(u16(long, false)), "\ufeff" + long},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.file), iotest.OneByteReader(strings.NewReader(tt.file)), iotest.DataErrReader(strings.NewReader(tt.file))} {
				got, err := io.ReadAll(source.Open(r))
				require.NoError(t, err)
				require.True(t, tt.want == string(got), "got %d bytes, want %d", len(got), len(tt.want))
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	damaged := []byte(gz(strings.Repeat("text\n", 1000)))
	damaged[len(damaged)-6] ^= 1
	tests := []struct{ name, file string }{
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00"},
		{"UTF-32, the high byte first", "\x00\x00\xfe\xff\x00\x00\x00a"},
		{"UTF-32 without a mark", "a\x00\x00\x00b\x00\x00\x00"},
		{"UTF-16 without a mark", "a\x00b\x00"},
		{"UTF-16 without a mark, the high byte first", "\x00a\x00b"},
		{"half of a surrogate pair", u16("ab", false) + "\x00\xd8a\x00"},
		{"UTF-16 that is cut", u16("ab", false) + "a"},
		{"gzip in gzip", gz(gz("a"))},
		{"zstd in gzip", gz(zst("a"))},
		{"a damaged gzip", string(damaged)},
		{"more after gzip", gz("a") + "more than a header has"},
		{"a damaged zstd", zst("a") + "????"},
		{"a cut gzip", gz("a")[:20]},
		{"a cut zstd", zst("a")[:8]},
		{"a large window", "\x28\xb5\x2f\xfd\x00\x98\x01\x00\x00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := io.ReadAll(source.Open(strings.NewReader(tt.file)))
			testkit.Fails(t, source.ErrText, err)
		})
	}
	for name, file := range map[string]string{"gzip": gz("a,b\n1,2\n"), "zstd": zst("a,b\n1,2\n")} {
		t.Run("each cut of "+name, func(t *testing.T) {
			for n := 4; n < len(file); n++ {
				_, err := io.ReadAll(source.Open(strings.NewReader(file[:n])))
				require.ErrorIs(t, err, source.ErrText, n)
				require.ErrorIs(t, err, io.ErrUnexpectedEOF, n)
			}
		})
	}
	t.Run("the error of the input", func(t *testing.T) {
		broken := errors.New("broken")
		for _, file := range []string{"", "a", "text\n", gz("a")[:12], zst("a")[:8], u16("a", false)} {
			r := source.Open(io.MultiReader(strings.NewReader(file), iotest.ErrReader(broken)))
			_, err := io.ReadAll(r)
			require.Equal(t, broken, err)
			_, err = r.Read(make([]byte, 1))
			require.Equal(t, broken, err)
		}
	})
}

// zeros is a text of n zeros, which are compressed well.
func zeros(n int) io.Reader { return io.LimitReader(zero{}, int64(n)) }

type zero struct{}

func (zero) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestBombs reads a small file that is a large text in little memory, and starts no goroutine.
func TestBombs(t *testing.T) {
	const size = 256 << 20
	var zipped, frame bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, err := io.Copy(w, zeros(size))
	require.NoError(t, errors.Join(err, w.Close()))
	z, err := zstd.NewWriter(&frame)
	require.NoError(t, err)
	_, err = io.Copy(z, zeros(size))
	require.NoError(t, errors.Join(err, z.Close()))
	for name, file := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": frame.Bytes()} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(file), 1<<20)
			before := runtime.NumGoroutine()
			testkit.MaxBytes(t, 40<<20, func() {
				r := source.Open(bytes.NewReader(file))
				n, err := io.Copy(io.Discard, r)
				require.NoError(t, err)
				require.EqualValues(t, size, n)
				require.LessOrEqual(t, runtime.NumGoroutine(), before)
			})
		})
	}
}

func FuzzOpen(f *testing.F) {
	for _, text := range []string{"a\n", gz("a"), zst("a"), u16("é😀", true), gz("a") + gz("b")} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, file string) {
		got, err := io.ReadAll(io.LimitReader(source.Open(strings.NewReader(file)), 1<<20))
		if err != nil {
			require.ErrorIs(t, err, source.ErrText)
		} else if source.Name([]byte(file)) == "" {
			require.Equal(t, file, string(got))
		}
	})
}
