package nrt_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tensor"
)

// Bounds that are copied are counted before there is memory for them: by MaxCopy, and by default,
// of a file that is large and empty.
func TestBoundsAreLimited(t *testing.T) {
	const rows = 1000
	l := tensor.Must(ragged.LayoutOf([]int{rows}, make([]int64, rows)))
	path := saved(t, tensor.Must(joint.New(joint.Field{Name: "x", Tensor: tensor.Must(ragged.New(tensor.Vector[int8](), l))})))
	_, err := nrt.OpenWith(path, nrt.Options{MaxCopy: 8 * rows})
	require.ErrorIs(t, err, nrt.ErrUnsupported)
	require.ErrorContains(t, err, "raise MaxCopy")
	require.IsType(t, &nrt.FileError{}, err)
	for _, most := range []int64{8 * (rows + 1), 0, -1} { // the last two are the default
		f, err := nrt.OpenWith(path, nrt.Options{MaxCopy: most})
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}

	const bounds = 1 << 31
	header := fmt.Sprintf(`{"dim1/bounds":{"dtype":"I64","shape":[%d],"data_offsets":[0,%d]},"dim1/v":{"dtype":"U8","shape":[0],"data_offsets":[%[2]d,%[2]d]}}`, bounds, 8*bounds)
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	empty := filepath.Join(t.TempDir(), "empty.nrt")
	require.NoError(t, os.WriteFile(empty, append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), 0o666))
	require.NoError(t, os.Truncate(empty, int64(8+len(header))+8*bounds)) // without room on disk
	testkit.MaxBytes(t, 1<<20, func() { _, err = nrt.Open(empty) })
	require.ErrorIs(t, err, nrt.ErrUnsupported)
}
