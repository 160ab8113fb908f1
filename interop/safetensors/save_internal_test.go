package safetensors

import (
	"bytes"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/vfs/vfstest"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestSaveSurvivesFaults fails each disk operation of a save in turn. Whatever a crash leaves then,
// the file is the old one or the new one, and if the save returned nil, the new one.
func TestSaveSurvivesFaults(t *testing.T) {
	of := func(v float64) (*plan, string) {
		td := tdict.New()
		require.NoError(t, td.Set("x", tensor.Scalar(v)))
		var b bytes.Buffer
		require.NoError(t, Write(&b, td, SaveOptions{}))
		return tensor.Must(newPlan(td, SaveOptions{})), b.String()
	}
	before, old := of(1)
	after, new := of(2)
	path := filepath.Join("d", "x")
	for _, fault := range []func(*vfstest.Disk, int){(*vfstest.Disk).FailOnce, (*vfstest.Disk).FailAfter} {
		for n := 1; ; n++ {
			disk := vfstest.New()
			require.NoError(t, disk.Mkdir("d", 0o777))
			require.NoError(t, disk.SyncDir("."))
			require.NoError(t, before.save(t.Context(), disk, path))
			ops := disk.Ops()
			fault(disk, n)
			err := after.save(t.Context(), disk, path)
			for _, mode := range vfstest.CrashModes() {
				got, failed := fs.ReadFile(disk.Crash(mode).Tree(), "d/x")
				require.NoError(t, failed)
				require.True(t, string(got) == new || err != nil && string(got) == old, "operation %d, %v, crash %v", n, err, mode)
			}
			if disk.Ops()-ops < n {
				require.NoError(t, err)
				break
			}
			require.Greater(t, 100, n)
		}
	}
}
