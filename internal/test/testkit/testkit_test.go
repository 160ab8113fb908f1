package testkit_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/naive"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// A probe is a test that is looked at.
type probe struct {
	testing.TB
	failed bool
}

func (p *probe) Errorf(string, ...any) { p.failed = true }
func (p *probe) Fatalf(string, ...any) { p.failed = true; runtime.Goexit() }
func (p *probe) Fatal(...any)          { p.Fatalf("") }

// fails reports whether a check fails the test that it is given.
func fails(t *testing.T, check func(t testing.TB)) bool {
	p, done := &probe{TB: t}, make(chan bool)
	go func() {
		defer close(done)
		check(p)
	}()
	<-done
	return p.failed
}

var errOther = errors.New("other")

func TestChecks(t *testing.T) {
	t.Setenv("UPDATE_TEXTS", "") // or the unknown text would become known
	first := func(_ testing.TB, x []int) string { return fmt.Sprint(x[0]) }
	kept := make([][]byte, 1)
	alloc := func(n int) func() { return func() { kept[0] = make([]byte, n) } }
	x := tensor.Vector[int8](1, 2)
	gone := tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: errOther}, 0, 1))
	tests := []struct {
		name  string
		check func(t testing.TB)
		fails bool
	}{
		{"another error", func(t testing.TB) { testkit.Fails(t, errOther, tensor.ErrDType) }, true},
		{"no error", func(t testing.TB) { testkit.Fails(t, errOther, nil) }, true},
		{"an error without a known text", func(t testing.TB) { testkit.Fails(t, errOther, errOther) }, true},
		{"a change", func(t testing.TB) { x := []int{1}; testkit.Unchanged(t, x, first, func() { x[0] = 2 }) }, true},
		{"no change that shows", func(t testing.TB) { x := []int{1, 1}; testkit.Unchanged(t, x, first, func() { x[1] = 2 }) }, false},
		{"elements of another type", func(t testing.TB) { testkit.Elements[uint8](t, x) }, true},
		{"elements", func(t testing.TB) { testkit.Elements[int8](t, x) }, false},
		{"content that is gone", func(t testing.TB) { testkit.Content(t, gone) }, true},
		{"too many bytes", func(t testing.TB) { testkit.MaxBytes(t, 1<<15, alloc(1<<16)) }, true},
		{"too many bytes by chance", func(t testing.TB) { testkit.MaxBytes(t, 1<<12, once(alloc(1<<16))) }, false},
		{"far too many bytes, once", func(t testing.TB) { testkit.MaxBytes(t, 1<<17, once(alloc(1<<20))) }, true},
		{"few bytes", func(t testing.TB) { testkit.MaxBytes(t, 1<<20, alloc(1<<16)) }, false},
		{"many times the bytes", func(t testing.TB) { testkit.Near(t, 2, alloc(1<<16), alloc(1<<20)) }, true},
		{"as many bytes", func(t testing.TB) { testkit.Near(t, 2, alloc(1<<20), alloc(1<<20)) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.fails, fails(t, tt.check)) })
	}
}

// A text is what it was when texts were last updated.
func TestTexts(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("UPDATE_TEXTS", "")
	text := "a\nb"
	check := func(t testing.TB) { testkit.Fails(t, errOther, fmt.Errorf("%s: %w", text, errOther)) }
	require.True(t, fails(t, check))
	t.Setenv("UPDATE_TEXTS", "1")
	require.False(t, fails(t, check))
	t.Setenv("UPDATE_TEXTS", "")
	require.False(t, fails(t, check))
	text = "c"
	require.True(t, fails(t, check))
}

// A specimen and its array show the same elements of the same memory.
func TestSpecimens(t *testing.T) {
	n := 0
	testkit.Specimens(t, func(t *testing.T, s testkit.Specimen) {
		require.Equal(t, s.Array.Shape, []int(s.Tensor.Shape().Clone()))
		require.Equal(t, s.Want(s.Array), testkit.Content(t, s.Tensor))
		require.Equal(t, s.Mem, s.Written(s.Array, s.Want(s.Array)))
		n++
	})
	require.Equal(t, 4*4*len(testkit.Widths)*len(testkit.Shapes), n)
}

func TestGatherAndScatter(t *testing.T) {
	part := naive.Array{Shape: []int{2}, At: []int{2, 0}}
	require.Equal(t, []byte("efab"), testkit.Gather([]byte("abcdef"), 2, part))
	require.Equal(t, []byte("34cd12"), testkit.Scatter([]byte("abcdef"), 2, part, []byte("1234")))
	require.Equal(t, []byte("12cd12"), testkit.Scatter([]byte("abcdef"), 2, part, []byte("12")), "repeated")
}

// Tests are long if the variable is set.
func TestTimes(t *testing.T) {
	t.Setenv("TENSORDICT_LONG", "")
	require.Equal(t, 3, longtests.Times(3, 9))
	t.Setenv("TENSORDICT_LONG", "1")
	require.Equal(t, 9, longtests.Times(3, 9))
}

// once returns a function that calls fn the first time.
func once(fn func()) func() {
	called := false
	return func() {
		if !called {
			fn()
		}
		called = true
	}
}
