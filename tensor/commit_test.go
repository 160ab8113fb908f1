package tensor_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Commits come after all copies, in order, and only if the copies succeed.
func TestTransferCommits(t *testing.T) {
	dst, log := tensor.Must(tensor.Zeros[int8](2)), []string{}
	add := func(tr *tensor.Transfer, what string) {
		tr.Commit(func() { log = append(log, what+dst.String()[len("int8 [2]\n"):]) })
	}
	var tr tensor.Transfer
	add(&tr, "a")
	require.NoError(t, tr.Copy(dst, tensor.Vector[int8](1, 2)))
	add(&tr, "b")
	require.ErrorIs(t, tr.Copy(dst, tensor.Scalar(1.0)), tensor.ErrDType)
	require.Empty(t, log)
	require.NoError(t, tr.Run())
	require.Equal(t, []string{"a[1 2]", "b[1 2]"}, log)

	tr.Reset()
	require.NoError(t, tr.Run())
	require.Len(t, log, 2, "Reset forgets them")

	gone := errors.New("gone")
	lent := tensor.Must(tensor.FromLender(tensor.Int8, &testkit.Lender{Fail: gone}, 0, 2))
	crossed := tensor.Must(tensor.Zeros[int8](2))
	for want, fail := range map[error]func(tr *tensor.Transfer) error{
		gone: func(tr *tensor.Transfer) error { return tr.Copy(crossed, lent) },
		tensor.ErrOverlap: func(tr *tensor.Transfer) error {
			return errors.Join(tr.Copy(crossed, dst), tr.Copy(dst, tensor.Vector[int8](5, 6)))
		},
	} {
		tr.Reset()
		add(&tr, "c")
		require.NoError(t, fail(&tr))
		require.ErrorIs(t, tr.Run(), want)
		require.Len(t, log, 2, "no commit")
		require.Equal(t, "int8 [2]\n[1 2]", dst.String())
		require.Equal(t, "int8 [2]\n[0 0]", crossed.String())
	}
}

// A Transfer that is used again costs the same, however many copies it does, and keeps Workers.
func TestTransferReset(t *testing.T) {
	cost := func(moves int) float64 {
		var dst, src []*tensor.Tensor
		for range moves {
			dst = append(dst, tensor.Must(tensor.Zeros[int32](6, 4)))
			src = append(src, tensor.Must(tensor.Full[int32](1, 6, 4)))
		}
		list := []shapeops.Run{{To: 3, Len: 2}, {To: 0, From: 1, Len: 3}}
		tr := tensor.Transfer{Workers: 3}
		return testing.AllocsPerRun(50, func() {
			tr.Reset()
			for i := range dst {
				err := tr.Copy(dst[i], src[i])
				if i%2 == 1 {
					err = errors.Join(err, tr.Runs(dst[i], src[i], list))
				}
				if err != nil {
					t.Error(err)
				}
			}
			if err := tr.Run(); err != nil || tr.Workers != 3 {
				t.Error(err, tr.Workers)
			}
		})
	}
	require.LessOrEqual(t, cost(1), 1.0)
	require.LessOrEqual(t, cost(100), cost(10)+1)
	require.LessOrEqual(t, cost(100), 10.0)
}
