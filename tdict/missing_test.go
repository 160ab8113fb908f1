package tdict_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestMissingKeySuggests what is spelled alike, and nothing that is not.
func TestMissingKeySuggests(t *testing.T) {
	td := dict(nil, entry{"obs/state", count()}, entry{"obs/pixels", count()}, entry{"reward", count()},
		entry{"x", count()}, entry{"flat.key", count()}, entry{"km~1h", count()}, entry{"speed/m/s", count()})
	tests := []struct {
		name string
		key  nestedkey.Key
		want string
	}{
		{"a point for a slash", "obs.state", `"obs/state"`},
		{"a point for a slash, further in", "speed/m.s", `"speed/m/s"`},
		{"a slash for a point", "flat/key", `"flat.key"`},
		{"a slash that is part of a name", "km/h", `nestedkey.Of("km/h")`},
		{"a slash that is not", "speed/m~1s", `"speed/m/s"`},
		{"a letter too few", "rewrd", `"reward"`},
		{"a letter too many", "rewaard", `"reward"`},
		{"another letter", "rewerd", `"reward"`},
		{"letters swapped", "rewadr", `"reward"`},
		{"two letters", "revart", `"reward"`},
		{"another case", "REWARD", `"reward"`},
		{"further in", "obs/pixel", `"obs/pixels"`},
		{"the first part of several", "osb/pixels", `"obs"`},
		{"too different", "action", ""},
		{"too short to be alike", "y", ""},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := testkit.Err(td.Get(tt.key))
			require.ErrorIs(t, err, tdict.ErrMissing)
			_, hint, found := strings.Cut(err.Error(), "; did you mean ")
			require.Equal(t, tt.want != "", found, err)
			require.Equal(t, tt.want, strings.TrimSuffix(hint, "?"))
		})
	}
	testkit.Fails(t, tdict.ErrMissing, testkit.Err(td.Get("obs/stat")))
}

// TestSetThroughALeafNamesOf: a "/" may have been meant as part of the name.
func TestSetThroughALeafNamesOf(t *testing.T) {
	td := dict(nil, entry{"km", count()}, entry{"in/km", count()})
	testkit.Fails(t, tdict.ErrNotDict, td.Set("in/km/h", count()))
	require.ErrorContains(t, td.Set("km/h", count()), `for a name that contains "/", use nestedkey.Of("km/h")`)
	require.NoError(t, td.Set(nestedkey.Of("in", "km/h"), count()))
}

// TestGetThroughALeafSuggests the name that has the "/" or the point, if there is one.
func TestGetThroughALeafSuggests(t *testing.T) {
	td := dict(nil, entry{"km", count()}, entry{"km~1h", count()}, entry{"a.b", count()}, entry{"a", count()},
		entry{"in/km", count()}, entry{"in/km~1h~1s", count()})
	tests := []struct{ name, want string }{
		{"km/h", `; did you mean nestedkey.Of("km/h")?`},
		{"a/b", `; did you mean "a.b"?`},
		{"in/km/h/s", `; did you mean nestedkey.Of("in", "km/h/s")?`},
		{"km/s", ""},
		{"in/km/h", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := testkit.Err(td.Get(key(tt.name)))
			testkit.Fails(t, tdict.ErrNotDict, err)
			_, hint, _ := strings.Cut(err.Error(), " is int64 []")
			require.Equal(t, tt.want, hint)
		})
	}
}

// TestMissesAreCheap: the text is made when it is asked for, whatever the dictionary's size.
func TestMissesAreCheap(t *testing.T) {
	for _, n := range []int{1, 10, 100, 1000} {
		td := tdict.New()
		for i := range n {
			require.NoError(t, td.Set(key(fmt.Sprint("leaf", i)), count()))
		}
		got := testing.AllocsPerRun(100, func() {
			if _, err := td.Get("leafx"); !errors.Is(err, tdict.ErrMissing) {
				t.Fatal(err)
			}
		})
		require.LessOrEqual(t, got, 2.0, n)
	}
}

// TestMissingKeyTellsWhatWas: the text of an error does not change with the dictionary, nor do the
// keys of the dictionary with the error.
func TestMissingKeyTellsWhatWas(t *testing.T) {
	for _, n := range []int{3, 20} {
		td, twin := tdict.New(), tdict.New()
		for i := range n {
			require.NoError(t, td.Set(key(fmt.Sprint("leaf", i)), tensor.Scalar(1.0)))
			require.NoError(t, twin.Set(key(fmt.Sprint("leaf", i)), tensor.Scalar(1.0)))
		}
		err := testkit.Err(td.Get("leef1"))
		want := testkit.Err(twin.Get("leef1")).Error()
		for _, change := range []func() error{
			func() error { return td.Rename("leaf1", "other") },
			func() error { return td.Delete("leaf0") },
			func() error { return td.Set("leef1", tensor.Scalar(1.0)) },
			func() error { return td.Delete("leaf2") },
			func() error { return td.Set("leaf0", tensor.Scalar(1.0)) },
		} {
			require.NoError(t, change())
			require.Equal(t, want, err.Error())
			consistent(t, td)
		}
		require.Contains(t, want, `did you mean "leaf1"?`)
		require.Equal(t, "leaf0", string(slices.Collect(td.Keys())[n-1]))
	}
}

// TestMissingKeyBesideAWriter: the text can be asked for while another goroutine changes keys.
func TestMissingKeyBesideAWriter(t *testing.T) {
	td := tdict.New()
	for i := range 20 {
		require.NoError(t, td.Set(key(fmt.Sprint("leaf", i)), count()))
	}
	err := testkit.Err(td.Get("leafx"))
	want := err.Error()
	done := make(chan string)
	go func() {
		text := ""
		for range 100 {
			text = err.Error()
		}
		done <- text
	}()
	for i := range 20 {
		require.NoError(t, td.Rename(key(fmt.Sprint("leaf", i)), key(fmt.Sprint("other", i))))
		require.NoError(t, td.Set(key(fmt.Sprint("new", i)), count()))
		require.NoError(t, td.Delete(key(fmt.Sprint("other", i))))
	}
	require.Equal(t, want, <-done)
}

// TestMissingKeyInManyNames looks at a bounded number of names, and at short texts.
func TestMissingKeyInManyNames(t *testing.T) {
	td := dict(nil, entry{key(strings.Repeat("a", 1000)), count()})
	require.NotContains(t, testkit.Err(td.Get(key(strings.Repeat("b", 1000)))).Error(), "did you mean")
	require.Contains(t, testkit.Err(td.Get(key(strings.Repeat("a", 998)+"b"))).Error(), "did you mean")
}
