//go:build unix

package picture_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/picture"
)

// mapped lends a mapped file.
type mapped struct{ m *mapping.Mapping }

func (l mapped) Borrow() ([]byte, error) { return l.m.Acquire() }
func (l mapped) Return()                 { l.m.Release() }
func (l mapped) Pin() ([]byte, error)    { return l.m.Pin() }
func (l mapped) ReadOnly() bool          { return false }

// TestFault checks that a file which another process cuts is an error, and nothing is written.
func TestFault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	size := 16 * os.Getpagesize()
	require.NoError(t, os.WriteFile(path, make([]byte, size), 0o666))
	f := tensor.Must(os.OpenFile(path, os.O_RDWR, 0))
	m := tensor.Must(mapping.Map(f, size, mapping.ReadWrite))
	t.Cleanup(func() {
		require.NoError(t, f.Close())
		require.NoError(t, m.Close())
	})
	x := tensor.Must(tensor.FromLender(tensor.Uint8, mapped{m}, 0, size/64, 64))
	var b bytes.Buffer
	require.NoError(t, picture.Encode(&b, x, picture.HW, 0, 255))

	require.NoError(t, f.Truncate(0))
	b.Reset()
	require.ErrorContains(t, picture.Encode(&b, x, picture.HW, 0, 255), "fault in mapped memory")
	require.Zero(t, b.Len())
}
