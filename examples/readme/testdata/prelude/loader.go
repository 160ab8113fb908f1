// What the fences of docs/loader.md use without declaring it.
package fence

import (
	"context"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

var (
	ctx          context.Context
	ds           *memmap.Dataset
	src          loader.Source
	l            *loader.Loader
	state        loader.State
	pipeline     transform.Transform
	train, batch *tdict.TensorDict
	scores       *tensor.Tensor
)

const width = 4

type Records struct{ count int }

func (r Records) read(row int) ([]float32, error)
