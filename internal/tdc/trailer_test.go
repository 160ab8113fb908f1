package tdc

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

const smallForm = `{"cls":"TensorDict","non_tensors":{},"leaves":{"x":["torch.uint8",[3],0,8,5]},"cls_metadata":{"batch_size":[]}}`

func form(json string) []byte {
	b := append([]byte("abc\x00\x00\x00\x00\x00"), json...)
	return binary.LittleEndian.AppendUint64(b, uint64(len(json)))
}

// TestFindTrailer searches data for the trailer of a form that begins where the data does.
func TestFindTrailer(t *testing.T) {
	f := form(smallForm)
	more := bytes.Repeat([]byte{1}, 100)
	require.Equal(t, len(f), FindTrailer(append(bytes.Clone(f), more...)))
	require.Equal(t, -1, FindTrailer(append(bytes.Clone(more), f...)), "a leaf that holds a form")
	require.Equal(t, -1, FindTrailer(f[:len(f)-1]))
	require.Equal(t, -1, FindTrailer(nil))
}

// TestFindTrailerHostile searches data made to be read again and again.
func TestFindTrailerHostile(t *testing.T) {
	data := append(bytes.Repeat([]byte(`{"cls":[`), 400), bytes.Repeat([]byte("1,"), 20<<20)...)
	require.Equal(t, -1, FindTrailer(data))
}
