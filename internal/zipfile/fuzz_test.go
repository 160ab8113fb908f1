package zipfile_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// FuzzOpen opens any bytes. Whatever can be opened has entries side by side and names that lead
// nowhere else; its contents have their sizes, or are refused.
func FuzzOpen(f *testing.F) {
	for _, file := range specimens(f) {
		f.Add(file)
	}
	for _, name := range golden(f) {
		file, err := os.ReadFile(name)
		require.NoError(f, err)
		if len(file) < 1000 {
			f.Add(file)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		var a *zipfile.Archive
		var err error
		testkit.MaxBytes(t, uint64(500<<10+20*len(file)), func() {
			a, err = zipfile.Open(bytes.NewReader(file), int64(len(file)), zipfile.MaxEntries)
		})
		if err != nil {
			requireClass(t, err)
			return
		}
		taken := make([]bool, len(file))
		for _, e := range a.Entries {
			for i := range e.Packed {
				require.False(t, taken[e.Offset+i], "byte %d is of two entries", e.Offset+i)
				taken[e.Offset+i] = true
			}
		}
		if _, err := read(file); err != nil {
			requireClass(t, err)
		}
	})
}
