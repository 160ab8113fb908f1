package arith_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReduceOfBadBools: a byte that is not a bool is the same error wherever it lies, on any number
// of cores, in memory of Go and in lent memory, among the elements and in a mask.
func TestReduceOfBadBools(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const rows, width = 1 << 12, 1 << 8
	for _, bad := range []int{0, rows*width/2 - 1, rows*width - 1} {
		b := make([]byte, rows*width)
		b[bad] = 7
		lender := &testkit.Lender{Bytes: b}
		own := tensor.Must(tensor.FromBytes(tensor.Bool, b, rows, width))
		for _, over := range []arith.Over{arith.Whole, arith.Dims(0), arith.Dims(1)} {
			var texts []string
			for _, cores := range []int{1, 2, 3} {
				runtime.GOMAXPROCS(cores)
				for _, x := range []*tensor.Tensor{own, lent(tensor.Bool, lender, rows, width)} {
					for _, verb := range []func(*tensor.Tensor, arith.Over) (*tensor.Tensor, error){
						arith.All[*tensor.Tensor], arith.Any[*tensor.Tensor], arith.Sum[*tensor.Tensor],
					} {
						err := testkit.Err(verb(x, over))
						require.ErrorIs(t, err, tensor.ErrDType)
						texts = append(texts, err.Error()[4:]) // without the operation's name, of 3 letters
					}
					masked := testkit.Err(arith.Sum(tensor.Must(tensor.New(tensor.Float32, rows, width)), over.Where(x)))
					require.ErrorIs(t, masked, tensor.ErrDType)
					require.Zero(t, lender.Borrowed())
				}
			}
			for _, text := range texts {
				require.Equal(t, texts[0], text)
			}
		}
	}
}
