package wire_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// alike requires that two dictionaries are equal, with kinds, names of dims, classes and locks.
func alike(t *testing.T, want, got *tdict.TensorDict) {
	t.Helper()
	require.Empty(t, tensor.Must(want.Diff(got)))
	require.Equal(t, want.Names(), got.Names())
	require.Equal(t, want.Class(), got.Class())
	require.Equal(t, want.Locked(), got.Locked())
	for key, v := range want.All() {
		if inner, ok := v.(*tdict.TensorDict); ok {
			alike(t, inner, tensor.Must(got.Dict(key)))
		}
	}
}

// TestRandom writes random dictionaries of all kinds and reads them, by every function.
func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			td := newMaker(t, seed, true).dict([][]int{{}, {0}, {3}, {2, 3}}[seed%4], 0)
			b := tensor.Must(wire.Append(nil, td))
			require.Len(t, b, tensor.Must(wire.Size(td)))
			var w bytes.Buffer
			n, err := wire.WriteTo(&w, td)
			require.NoError(t, err)
			require.Equal(t, int64(len(b)), n)
			require.Equal(t, b, w.Bytes())

			var m wire.Message
			require.NoError(t, m.UnmarshalBinary(b))
			alike(t, td, m.Dict)
			require.Equal(t, string(b), string(tensor.Must(m.MarshalBinary())), "written again, it is the same")

			lender := &testkit.Lender{Bytes: b}
			lent := tensor.Must(wire.Parse(lender))
			alike(t, td, lent)
			require.Zero(t, lender.Borrowed())
		})
	}
}
