package nestedkey_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
)

func TestSpelling(t *testing.T) {
	tests := []struct {
		name  string
		parts []string
		want  nestedkey.Key
	}{
		{"one part is itself", []string{"obs"}, "obs"},
		{"parts are separated by a slash", []string{"next", "obs", "px"}, "next/obs/px"},
		{"a slash within a part is ~1", []string{"km/h"}, "km~1h"},
		{"a tilde within a part is ~0", []string{"~"}, "~0"},
		{"an escape is not read twice", []string{"~1"}, "~01"},
		{"the empty part is a part", []string{""}, ""},
		{"empty parts keep their places", []string{"", "a", ""}, "/a/"},
		{"dots and spaces mean nothing", []string{"a.b", " "}, "a.b/ "},
		{"any UTF-8 goes", []string{"ünïcode", "你"}, "ünïcode/你"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := nestedkey.Of(tt.parts[0], tt.parts[1:]...)
			require.Equal(t, tt.want, got)
			require.NoError(t, got.Check())
			require.Equal(t, tt.parts, slices.Collect(got.Parts()))
			require.Equal(t, tt.parts[len(tt.parts)-1], got.Name())
		})
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name, key, text string
	}{
		{"a lone tilde", "a~", `ill-formed key "a~": byte 1: got a lone ~, want ~0 (for ~) or ~1 (for /)`},
		{"an unknown escape", "a/~2", `ill-formed key "a/~2": byte 2: got a lone ~, want ~0 (for ~) or ~1 (for /)`},
		{"a tilde before a separator", "~/a", `ill-formed key "~/a": byte 0: got a lone ~, want ~0 (for ~) or ~1 (for /)`},
		{"a bad escape behind a good one", "~0~", `ill-formed key "~0~": byte 2: got a lone ~, want ~0 (for ~) or ~1 (for /)`},
		{"bytes that are not UTF-8", "a\xff", `ill-formed key "a\xff": not UTF-8`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := nestedkey.Parse(tt.key)
			require.ErrorIs(t, err, nestedkey.ErrKey)
			require.EqualError(t, err, tt.text)
		})
	}
	for _, good := range []string{"", "/", "~0~1", "a~0b/~1"} {
		_, err := nestedkey.Parse(good)
		require.NoError(t, err, good)
	}
}

func TestJoin(t *testing.T) {
	require.Equal(t, nestedkey.Key("a"), nestedkey.Join("a"))
	require.Equal(t, nestedkey.Key("a/b"), nestedkey.Join("a", "b"))
	require.Equal(t, nestedkey.Key("a/b/c/d"), nestedkey.Join("a/b", "c", "d"))
	require.Equal(t, nestedkey.Key("/"), nestedkey.Join("", ""), "two empty parts")
}

func TestCutAndParent(t *testing.T) {
	first, rest, nested := nestedkey.Key("a/b/c").Cut()
	require.Equal(t, []any{nestedkey.Key("a"), nestedkey.Key("b/c"), true}, []any{first, rest, nested})
	first, rest, nested = nestedkey.Key("a").Cut()
	require.Equal(t, []any{nestedkey.Key("a"), nestedkey.Key(""), false}, []any{first, rest, nested})

	parent, ok := nestedkey.Key("a/b/c").Parent()
	require.Equal(t, []any{nestedkey.Key("a/b"), true}, []any{parent, ok})
	_, ok = nestedkey.Key("a").Parent()
	require.False(t, ok)
}

func TestHasPrefix(t *testing.T) {
	tests := []struct {
		name        string
		key, prefix nestedkey.Key
		want        bool
	}{
		{"a key is its own prefix", "a/b", "a/b", true},
		{"whole parts only", "ab/c", "a", false},
		{"an outer part", "a/b", "a", true},
		{"never longer", "a", "a/b", false},
		{"the empty part is no root", "a", "", false},
		{"the empty part is a part", "/a", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.key.HasPrefix(tt.prefix)) })
	}
}

func TestCompareOrdersByText(t *testing.T) {
	sorted := []nestedkey.Key{"", "/", "!", "a", "a/a", "a/b", "a!", "a.b", "a~1", "a0", "b", "~0", "é"}
	for i, a := range sorted {
		for j, b := range sorted {
			require.Equal(t, sign(i-j), nestedkey.Compare(a, b), "%q and %q", a, b)
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }

// A sequence of parts can be ranged over again, also after a break.
func TestPartsAgain(t *testing.T) {
	parts := nestedkey.Key("a/b~1c/d").Parts()
	for range parts {
		break
	}
	for range 2 {
		require.Equal(t, []string{"a", "b/c", "d"}, slices.Collect(parts))
	}
}

func TestWalkingAllocatesNothing(t *testing.T) {
	key, other := nestedkey.Key("next/observation/km~1h"), nestedkey.Key("next/observation")
	n := testing.AllocsPerRun(100, func() {
		for rest, nested := key, true; nested; {
			_, rest, nested = rest.Cut()
		}
		_, _ = key.Parent()
		_ = key.HasPrefix(other)
		_ = nestedkey.Compare(key, other)
		_ = key.Check()
		_ = other.Name()
		for range other.Parts() {
			continue
		}
	})
	require.Zero(t, n)
}

// FuzzKey checks that every text parses or is refused as ErrKey, and that what parses survives
// being taken apart and spelled again.
func FuzzKey(f *testing.F) {
	for _, seed := range []string{"", "a/b", "~0~1/", "~", "a\xff", "//"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := nestedkey.Parse(s)
		if err != nil {
			require.ErrorIs(t, err, nestedkey.ErrKey)
			return
		}
		parts := slices.Collect(k.Parts())
		require.Equal(t, k, nestedkey.Of(parts[0], parts[1:]...))
		require.Equal(t, strings.Count(s, "/")+1, len(parts))
		require.Equal(t, parts[len(parts)-1], k.Name())
		require.True(t, k.HasPrefix(k))
		if parent, ok := k.Parent(); ok {
			require.True(t, k.HasPrefix(parent))
			require.Equal(t, 1, nestedkey.Compare(k, parent))
			require.Equal(t, k, nestedkey.Join(parent, nestedkey.Of(k.Name())))
		}
	})
}

// FuzzOf checks that any text can be a part, and that Compare agrees with comparing the parts.
func FuzzOf(f *testing.F) {
	f.Add("a/b", "~", "", "x")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		for _, s := range []string{a, b, c, d} {
			if !utf8.ValidString(s) {
				return
			}
		}
		k, l := nestedkey.Of(a, b), nestedkey.Of(c, d)
		require.NoError(t, k.Check())
		require.Equal(t, []string{a, b}, slices.Collect(k.Parts()))
		require.Equal(t, slices.Compare([]string{a, b}, []string{c, d}), nestedkey.Compare(k, l))
	})
}
