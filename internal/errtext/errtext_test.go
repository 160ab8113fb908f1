package errtext_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

func TestQuote(t *testing.T) {
	require.Equal(t, `"a\n\xff"`, errtext.Quote("a\n\xff"))
	require.Equal(t, `"`+strings.Repeat("x", 99)+`"...`, errtext.Quote(strings.Repeat("x", 99)+"é"), "no half of a rune")
}

func TestCut(t *testing.T) {
	require.Equal(t, "abcdef", errtext.Cut("abcdef", 6))
	require.Equal(t, "abc ... efg", errtext.Cut("abcdefg", 6))
	require.Equal(t, " ... ", errtext.Cut("éé", 2), "no half of a rune")
}

func TestBare(t *testing.T) {
	reason := errors.New("reason")
	for _, err := range []error{reason, &fs.PathError{Err: reason}, &os.LinkError{Err: reason}} {
		require.Equal(t, reason, errtext.Bare(err))
	}
	require.NoError(t, errtext.Bare(nil))
}

func TestWith(t *testing.T) {
	err := errtext.With(fs.ErrExist, "got %d: %w", 3, fs.ErrClosed)
	require.EqualError(t, err, "file already exists: got 3: file already closed")
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestLine(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "obs/pixels": "obs/pixels", "größe": "größe", "a b": "a b",
		"a\tb": `"a\tb"`, "a\nb": `"a\nb"`, "\x1b[31m": `"\x1b[31m"`, "\xff": `"\xff"`, "\u202e": `"\u202e"`,
	} {
		require.Equal(t, want, errtext.Line(name))
	}
}
