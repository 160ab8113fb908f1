//go:build unix

package forms_test

import (
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReplacedInput replaces the input at each operation on the disk in turn, or at some: there is
// no error, and the output has the old rows or the new ones.
func TestReplacedInput(t *testing.T) {
	counts, renewed := forms.SplitOptions{Counts: []int{4, 2}}, 0
	for name, write := range map[string]func(to, from string) error{
		"Convert to tdz":   func(to, from string) error { return forms.Convert(ctx, to+".tdz", []string{from}, forms.Options{}) },
		"Convert to jsonl": func(to, from string) error { return forms.Convert(ctx, to+".jsonl", []string{from}, forms.Options{}) },
		"Convert of two":   func(to, from string) error { return forms.Convert(ctx, to, []string{from, from}, forms.Options{}) },
		"Slice": func(to, from string) error {
			return forms.Slice(ctx, to, from, forms.SliceOptions{Index: []ix.Index{ix.Take(1, 2)}})
		},
		"Split": func(to, from string) error { return forms.Split(ctx, to, from, counts) },
	} {
		step := int64(longtests.Times(4, 1))
		for n := 1 + rand.Int64N(step); ; n += step {
			dir := testkit.TempDir(t)
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			require.NoError(t, memmap.Save(from, filled(1, "")))
			var ops atomic.Int64
			vfs.Observe(func(op, path string) error {
				if ops.Add(1) == n {
					return memmap.Save(from, filled(2, ""))
				}
				return nil
			})
			err := write(to, from)
			vfs.Observe(nil)
			require.NoError(t, err, "%s, operation %d", name, n)
			found := tensor.Must(filepath.Glob(to + "*"))
			if name == "Split" {
				found = tensor.Must(filepath.Glob(filepath.Join(to, "*")))
			}
			got := map[int64]bool{}
			for _, path := range found {
				td := read(t, path, nil)
				for _, key := range []nestedkey.Key{"x", "n/y"} {
					for _, v := range tensor.Must(tdict.Slice[int64](td, key)) {
						got[v] = true
					}
				}
			}
			if name != "Convert of two" { // which opens two inputs
				require.Len(t, got, 1, "%s, operation %d", name, n)
			}
			if got[2] {
				renewed++
			}
			if ops.Load() < n {
				break
			}
		}
	}
	require.NotZero(t, renewed)
}
