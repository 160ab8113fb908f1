package pickstack

import (
	"math"

	"github.com/go-tensordict/tensordict/internal/vector"
)

// A folder folds rows of x into d, one after another. The rows begin at elements at, and are as
// long as d.
type folder[T number] func(d, x []T, at []int)

// folderOf returns the folder of a reduction, and the initial value of d, which is neutral. The
// folder of LogSumExp finds the greatest exponent.
func folderOf[T number](r Reduction) (f folder[T], begin T) {
	switch r {
	case Max, LogSumExp:
		f, begin = vector.MaximumRows[T], T(math.Inf(-1))
	case Min:
		f, begin = vector.MinimumRows[T], T(math.Inf(1))
	default:
		f, begin = vector.AddRows[T], T(math.Copysign(0, -1)) // -0 + -0 is -0
	}
	return f, begin
}
