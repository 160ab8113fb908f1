//go:build unix

package forms_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
)

var errInjected = errors.New("injected failure")

// failing makes the n-th operation on the disk fail, or all from the n-th on, until stop is called.
// stop returns how many operations there were.
func failing(n int, all bool) (stop func() int) {
	var mu sync.Mutex
	ops := 0
	vfs.Observe(func(string, string) error {
		mu.Lock()
		defer mu.Unlock()
		if ops++; ops == n || all && ops > n {
			return errInjected
		}
		return nil
	})
	return func() int {
		vfs.Observe(nil)
		return ops
	}
}

// state returns what an output holds: nothing, or a dictionary for each part.
func (w writer) state(t testing.TB, to string) (held []*tdict.TensorDict) {
	t.Helper()
	paths := []string{to}
	if w.parts != nil {
		paths = nil
		for _, name := range w.parts {
			paths = append(paths, filepath.Join(to, name))
		}
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			held = append(held, read(t, path, nil))
		}
	}
	return held
}

func sameState(a, b []*tdict.TensorDict) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// TestErrDone makes each operation on the disk fail in turn, alone or with all later ones, for each
// writer in each form. After an error that is ErrDone the output is the new one; after another
// error it is the old one. Every operation of a save fails, and of other writers every sixth, from
// one of the first on, or without TENSORDICT_LONG every fortieth.
func TestErrDone(t *testing.T) {
	some := longtests.Times(40, 6)
	injected, done := 0, 0
	for _, w := range writers() {
		if strings.HasPrefix(w.name, "Writer") || w.name == "Create" { // these have several steps
			continue
		}
		step := some
		if w.name == "Save" {
			step = 1
		}
		for _, over := range []bool{true, false} {
			if over && w.old == nil || !over && w.changes {
				continue
			}
			dir := testkit.TempDir(t)
			from, kept, made := filepath.Join(dir, "from"), filepath.Join(dir, "kept", w.out), filepath.Join(dir, "made", w.out)
			for _, d := range []string{from, filepath.Dir(kept), filepath.Dir(made)} {
				require.NoError(t, os.Mkdir(d, 0o777))
			}
			sources(t, from, 2)
			if over {
				w.old(t, kept)
				require.NoError(t, os.CopyFS(filepath.Dir(made), os.DirFS(filepath.Dir(kept))))
			}
			before := w.state(t, kept)
			require.NoError(t, w.write(made, from))
			after := w.state(t, made)
			require.False(t, sameState(before, after), "%s %s", w.name, w.out)
			for _, all := range []bool{false, true} {
				for n := 1 + rand.IntN(step); ; n += step {
					try := filepath.Join(dir, "try")
					require.NoError(t, os.RemoveAll(try))
					require.NoError(t, os.CopyFS(try, os.DirFS(filepath.Dir(kept))))
					to := filepath.Join(try, w.out)
					stop := failing(n, all)
					err := w.write(to, from)
					ops := stop()
					got := w.state(t, to)
					switch {
					case err == nil || errors.Is(err, memmap.ErrDone):
						require.True(t, sameState(got, after), "%s %s over %v: operation %d, all later %v: %v: want the new state", w.name, w.out, over, n, all, err)
					default:
						require.ErrorIs(t, err, errInjected)
						require.True(t, sameState(got, before), "%s %s over %v: operation %d, all later %v: %v: want the old state", w.name, w.out, over, n, all, err)
					}
					if errors.Is(err, memmap.ErrDone) {
						done++
					}
					injected++
					if ops < n {
						require.NoError(t, err)
						break
					}
				}
			}
		}
	}
	t.Logf("%d faults, of which %d after the work was done", injected, done)
}
