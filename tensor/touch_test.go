package tensor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestLendersAreToldOfWriting: a lender that asks for it is told before its memory is written, and
// not when it is read; if it refuses, nothing is written.
func TestLendersAreToldOfWriting(t *testing.T) {
	tests := []struct {
		name   string
		do     func(x *tensor.Tensor) error
		writes bool
	}{
		{"clone", func(x *tensor.Tensor) error { return testkit.Err(x.Clone()) }, false},
		{"rows by list", func(x *tensor.Tensor) error { return testkit.Err(x.Index(ix.Take(1, 0))) }, false},
		{"read", func(x *tensor.Tensor) error { return tensor.Read(x, func([]uint8) {}) }, false},
		{"read strided", func(x *tensor.Tensor) error {
			return tensor.ReadStrided(x, func([]uint8, []int) error { return nil })
		}, false},
		{"compare", func(x *tensor.Tensor) error { return testkit.Err(x.Diff(x)) }, false},
		{"stack", func(x *tensor.Tensor) error { return testkit.Err(shapeops.Stack([]*tensor.Tensor{x, x}, 0)) }, false},
		{"set a part", func(x *tensor.Tensor) error { return x.SetIndex(tensor.Scalar[uint8](9), ix.At(0)) }, true},
		{"set rows by list", func(x *tensor.Tensor) error { return x.SetIndex(tensor.Scalar[uint8](9), ix.Take(1, 0)) }, true},
		{"copy", func(x *tensor.Tensor) error { return x.CopyFrom(tensor.Must(tensor.Full[uint8](9, 2, 2))) }, true},
		{"index into", func(x *tensor.Tensor) error {
			return tensor.Must(tensor.Full[uint8](9, 3, 2)).IndexInto(x, ix.Take(1, 0))
		}, true},
		{"stack into", func(x *tensor.Tensor) error {
			row := tensor.Must(tensor.Full[uint8](9, 2))
			return shapeops.StackInto(x, []*tensor.Tensor{row, row}, 0)
		}, true},
		{"fill", func(x *tensor.Tensor) error {
			var tr tensor.Transfer
			return errors.Join(tr.Fill(x, tensor.Scalar[uint8](9)), tr.Run())
		}, true},
		{"write", func(x *tensor.Tensor) error { return tensor.Write(x, func(s []uint8) { s[0] = 9 }) }, true},
		{"write strided", func(x *tensor.Tensor) error {
			return tensor.WriteStrided(x, func(s []uint8, _ []int) error { s[0] = 9; return nil })
		}, true},
		{"write in another order", func(x *tensor.Tensor) error {
			return tensor.Write(tensor.Must(x.Permute(1, 0)), func(s []uint8) { s[0] = 9 })
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lender := &testkit.Lender{Bytes: []byte{1, 2, 3, 4}}
			x := tensor.Must(tensor.FromLender(tensor.Uint8, lender, 0, 2, 2))
			require.NoError(t, tt.do(x))
			require.Equal(t, tt.writes, lender.Touched() > 0)
			require.Equal(t, tt.writes, lender.Bytes[0] == 9)

			refusing := &testkit.Lender{Bytes: []byte{1, 2, 3, 4}, Refuse: errors.New("no")}
			err := tt.do(tensor.Must(tensor.FromLender(tensor.Uint8, refusing, 0, 2, 2)))
			if tt.writes {
				require.ErrorIs(t, err, refusing.Refuse)
			}
			require.Equal(t, []byte{1, 2, 3, 4}, refusing.Bytes)
			require.Zero(t, refusing.Borrowed())
		})
	}
}
