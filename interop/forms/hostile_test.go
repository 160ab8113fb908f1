package forms_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestDamage changes each byte of a file, and cuts it there: no form makes Convert panic, or leave
// anything after an error. TestHostile of cmd/internal/command converts the broken files of other
// packages.
func TestDamage(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](1, 2, 3)}))
	step := 23
	if longtests.On() {
		step = 1
	}
	for _, suffix := range all[1:] {
		dir := testkit.TempDir(t)
		path := filepath.Join(dir, "x"+suffix)
		require.NoError(t, forms.Convert(ctx, path, []string{in}, forms.Options{NoSync: true}))
		whole := tensor.Must(os.ReadFile(path))
		for at := 0; at < len(whole); at += step {
			changed := append([]byte{}, whole...)
			changed[at] ^= 0x41
			for i, b := range [][]byte{whole[:at], changed} {
				require.NoError(t, os.WriteFile(path, b, 0o666))
				out := filepath.Join(dir, "out.csv")
				err := forms.Convert(ctx, out, []string{path}, forms.Options{Lossy: true, NoSync: true})
				what := fmt.Sprint(suffix, " at ", at, " ", i)
				if err == nil {
					require.NoError(t, os.Remove(out), what)
				} else {
					require.Contains(t, err.Error(), "x"+suffix, what)
				}
				litter(t, dir, "x"+suffix)
			}
		}
	}
}
