package memmap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestStacksThereAndBack has Python write random dictionaries, lazy stacks, data, classes and
// unbatched tensors, opens and saves them in each form, and has Python compare what it loads of
// both.
func TestStacksThereAndBack(t *testing.T) {
	script, dir := filepath.Join("testdata", "python", "stacks.py"), t.TempDir()
	text := string(tensor.Must(os.ReadFile(script)))
	n := "60"
	if longtests.On() {
		n = "400"
	}
	require.Contains(t, processkit.Python(t, text, "make", "45", n, dir), "made")
	for _, folder := range tensor.Must(filepath.Glob(filepath.Join(dir, "*"))) {
		data := filepath.Join(folder, "data")
		t.Run(filepath.Base(folder), func(t *testing.T) { checkGolden(t, folder) })
		ds := open(t, data)
		require.NoError(t, memmap.Save(filepath.Join(folder, "again"), ds.TensorDict))
		require.NoError(t, memmap.Save(filepath.Join(folder, "again.tdc"), ds.TensorDict))
		requireSound(t, filepath.Join(folder, "again"))
		for _, form := range []string{"", ".tdz", ".tdc"} {
			copied := filepath.Join(folder, "copy"+form)
			require.NoError(t, memmap.Copy(t.Context(), data, copied, memmap.CopyOptions{}))
			back := open(t, copied)
			require.True(t, ds.Equal(back.TensorDict))
			requireSameStacks(t, ds.TensorDict, back.TensorDict)
		}
	}
	for _, line := range strings.Split(processkit.Python(t, text, "same", dir, "data", "again", "copy", "again.tdc", "copy.tdc"), "\n") {
		require.Empty(t, line)
	}
}
