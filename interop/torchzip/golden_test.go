package torchzip_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/tensor"
)

func file(t testing.TB, name string) []byte {
	return tensor.Must(os.ReadFile(filepath.Join("testdata", name)))
}

// read returns the tensor of a file.
func read(b []byte) (*tensor.Tensor, error) {
	f, err := torchzip.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return nil, err
	}
	return f.Read()
}

// TestGolden reads each file that torch wrote, into memory of its own and into another tensor,
// writes it and reads that.
func TestGolden(t *testing.T) {
	var all map[string]struct {
		DType, Hex, Error string
		Shape             []int
	}
	require.NoError(t, json.Unmarshal(file(t, "expected.json"), &all))
	require.Len(t, all, len(tensor.Must(filepath.Glob("testdata/*.pt"))))
	for name, want := range all {
		t.Run(name, func(t *testing.T) {
			x, err := read(file(t, name))
			if want.Error != "" {
				require.ErrorIs(t, err, torchzip.ErrUnsupported)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want.DType, x.DType().String())
			require.Equal(t, want.Shape, []int(x.Shape()))
			require.Equal(t, want.Hex, hex.EncodeToString(testkit.Content(t, x)))
			require.Equal(t, want.Hex, hex.EncodeToString(testkit.Content(t, tensor.Must(read(written(t, x))))))
			into(t, file(t, name), x)
			into(t, written(t, x), x)
		})
	}
}

// into reads a file into a tensor, and into one that is not contiguous, and compares.
func into(t *testing.T, b []byte, want *tensor.Tensor) {
	f, err := torchzip.Open(bytes.NewReader(b), int64(len(b)))
	require.NoError(t, err)
	require.Equal(t, want.Shape(), f.Meta().Shape())
	dst := tensor.Must(tensor.New(want.DType(), want.Shape()...))
	wide := tensor.Must(tensor.New(want.DType(), append(want.Shape().Clone(), 2)...))
	stepped := tensor.Must(tensor.Must(wide.Narrow(-1, 1, 1)).Squeeze(-1))
	for _, dst := range []*tensor.Tensor{dst, tensor.Must(stepped.Reshape(want.Shape()...))} {
		require.NoError(t, f.ReadInto(dst))
		require.True(t, dst.Equal(want))
	}
}

// written returns the file of a tensor, whose parts it compares with those of a Layout.
func written(t testing.TB, x *tensor.Tensor) []byte {
	var b bytes.Buffer
	require.NoError(t, torchzip.Write(&b, x))
	l, err := torchzip.NewLayout(x.DType(), x.Shape()...)
	require.NoError(t, err)
	require.Equal(t, l.Size(), b.Len())
	require.Zero(t, len(l.Head())%64)
	require.True(t, bytes.HasPrefix(b.Bytes(), l.Head()))
	require.Equal(t, testkit.Content(t, x), b.Bytes()[len(l.Head()):][:x.ByteSize()])
	return b.Bytes()
}

// classified checks that an error is a FileError with one of the reasons that there are.
func classified(t *testing.T, err error) {
	e, ok := errors.AsType[*torchzip.FileError](err)
	require.True(t, ok && (errors.Is(e, torchzip.ErrCorrupt) || errors.Is(e, torchzip.ErrUnsupported)), "%v", err)
}
