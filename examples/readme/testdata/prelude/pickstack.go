// What the fences of docs/pickstack.md use without declaring it.
package fence

import (
	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	index0, index1, values, splits, rows *tensor.Tensor
	x0, x1, x, g, out                    *tensor.Tensor
	dxs                                  []*tensor.Tensor
	touching                             *ragged.Tensor
	opt                                  pickstack.PoolOptions
	plan, maxima, means                  *pickstack.Plan
	td, grads                            *tdict.TensorDict
)
