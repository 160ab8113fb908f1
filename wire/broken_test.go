package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// Each file in testdata/broken is a form that is not sound: what is broken, the error, what its
// text contains, an empty line, how many bytes of data there are, all of them 3, and the JSON, in
// which @FF stands for that byte.
type brokenForm struct {
	want error
	text string
	form []byte
}

func brokenForms(t testing.TB) map[string]brokenForm {
	all := map[string]brokenForm{}
	for _, file := range tensor.Must(filepath.Glob(filepath.Join("testdata", "broken", "*.txt"))) {
		lines := strings.Split(string(tensor.Must(os.ReadFile(file))), "\n")
		var size int
		_, err := fmt.Sscanf(lines[4], "%d bytes of data", &size)
		require.NoError(t, err, file)
		json := strings.ReplaceAll(lines[5], "@FF", "\xff")
		b := append(bytes.Repeat([]byte{3}, size), json...)
		b = binary.LittleEndian.AppendUint64(b, uint64(len(json)))
		want := map[string]error{"ErrCorrupt": wire.ErrCorrupt, "ErrUnsupported": wire.ErrUnsupported}[lines[1]]
		require.NotNil(t, want, file)
		all[strings.TrimSuffix(filepath.Base(file), ".txt")] = brokenForm{want, lines[2], b}
	}
	return all
}

// TestBroken reads each broken form in memory, as a frame, and as a file.
func TestBroken(t *testing.T) {
	all := brokenForms(t)
	require.GreaterOrEqual(t, len(all), 35)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			refused := func(err error) {
				t.Helper()
				require.ErrorIs(t, err, c.want)
				require.ErrorContains(t, err, c.text)
			}
			testkit.Fails(t, c.want, new(wire.Message).UnmarshalBinary(c.form))
			testkit.MaxBytes(t, 1<<20, func() {
				refused(new(wire.Message).UnmarshalBinary(c.form))
				refused(testkit.Err(wire.Parse(&testkit.Lender{Bytes: c.form})))
				frame := append(binary.LittleEndian.AppendUint64(nil, uint64(len(c.form))), c.form...)
				refused(testkit.Err(wire.NewDecoder(bytes.NewReader(frame), wire.DecoderOptions{}).Decode()))
				refused(wire.NewDecoder(bytes.NewReader(frame), wire.DecoderOptions{}).DecodeInto(tdict.New()))
			})
			at := filepath.Join(t.TempDir(), "x.tdc")
			require.NoError(t, os.WriteFile(at, c.form, 0o600))
			_, err := memmap.Open(at)
			require.ErrorIs(t, err, c.want)
			_, err = memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
			require.ErrorIs(t, err, c.want)
		})
	}
}

// TestBrokenTrailers reads forms whose last bytes are wrong.
func TestBrokenTrailers(t *testing.T) {
	sound := tensor.Must(wire.Append(nil, tdict.New()))
	for name, b := range map[string][]byte{
		"nothing":                  nil,
		"less than a length":       sound[len(sound)-7:],
		"only a length":            sound[len(sound)-8:],
		"metadata before the file": append(bytes.Clone(sound[:len(sound)-8]), binary.LittleEndian.AppendUint64(nil, uint64(len(sound)))...),
		"a negative length":        append(bytes.Clone(sound[:len(sound)-8]), bytes.Repeat([]byte{0xff}, 8)...),
		"a length of 1":            append(bytes.Clone(sound[:len(sound)-8]), 1, 0, 0, 0, 0, 0, 0, 0),
		"metadata that is cut":     append(bytes.Clone(sound[:len(sound)-8]), byte(len(sound)-9), 0, 0, 0, 0, 0, 0, 0),
	} {
		require.ErrorIs(t, new(wire.Message).UnmarshalBinary(b), wire.ErrCorrupt, name)
		at := filepath.Join(t.TempDir(), "x.tdc")
		require.NoError(t, os.WriteFile(at, b, 0o600))
		require.ErrorIs(t, testkit.Err(memmap.Open(at)), memmap.ErrCorrupt, name)
	}
}

// TestOldTrailer opens a file that Python overwrote with a shorter form.
func TestOldTrailer(t *testing.T) {
	dict := func(n int) *tdict.TensorDict {
		td := tdict.New()
		require.NoError(t, td.Set("x", tensor.Must(tensor.New(tensor.Float32, n))))
		return td
	}
	long, short := tensor.Must(wire.Append(nil, dict(500_000))), tensor.Must(wire.Append(nil, dict(10)))
	for _, n := range []int{3 << 20, 5000} {
		b := append([]byte{}, long...)
		if n == 5000 {
			b = tensor.Must(wire.Append(nil, dict(1000)))
		}
		copy(b, short)
		at := filepath.Join(t.TempDir(), "x.tdc")
		require.NoError(t, os.WriteFile(at, b, 0o600))
		_, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "the metadata at the end is out of date")
		if n == 5000 {
			require.ErrorIs(t, testkit.Err(memmap.Open(at)), memmap.ErrCorrupt)
		}
	}
}

func seeds(f *testing.F) (all [][]byte) {
	for _, c := range brokenForms(f) {
		all = append(all, c.form)
	}
	for _, file := range tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "con*", "data.tdc"))) {
		all = append(all, tensor.Must(os.ReadFile(file)))
	}
	return all
}

// FuzzForm reads forms: what is read is written and read again to the same, and what is refused is
// refused by name.
func FuzzForm(f *testing.F) {
	for _, b := range seeds(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m, again wire.Message
		if !readOrRefused(t, m.UnmarshalBinary(b)) {
			return
		}
		_ = m.Dict.String()
		_ = testkit.Err(m.Dict.Clone())
		first, err := m.MarshalBinary()
		require.NoError(t, err)
		require.NoError(t, again.UnmarshalBinary(first))
		second := tensor.Must(again.MarshalBinary())
		require.Equal(t, string(first), string(second))
	})
}

// readOrRefused reports whether a form was read, and requires a name of any error.
func readOrRefused(t *testing.T, err error) bool {
	if err == nil {
		return true
	}
	if errors.Is(err, wire.ErrCorrupt) || errors.Is(err, wire.ErrUnsupported) {
		return false
	}
	t.Fatalf("an error without a name: %v", err)
	return false
}

// FuzzFrame receives what may be frames, in both ways.
func FuzzFrame(f *testing.F) {
	for _, b := range seeds(f) {
		frame := append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...)
		f.Add(bytes.Repeat(frame, 2))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		opt := wire.DecoderOptions{MaxFrame: 1 << 20}
		dec := wire.NewDecoder(bytes.NewReader(b), opt)
		var dst *tdict.TensorDict
		for range 10 {
			td, err := dec.Decode()
			if err != nil {
				continue
			}
			if dst == nil {
				dst = tensor.Must(td.Clone())
			}
			_ = td.String()
		}
		if dst == nil {
			return
		}
		dec = wire.NewDecoder(bytes.NewReader(b), opt)
		for range 10 {
			_ = dec.DecodeInto(dst)
			_ = dst.String()
		}
	})
}
