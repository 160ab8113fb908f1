// What the fences of docs/ragged.md use without declaring it.
package fence

import (
	"math/rand/v2"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var (
	codes, day    *ragged.Tensor
	j             *joint.Joint
	starts, masks *tensor.Tensor
	rng           *rand.Rand
	n             int
	random        []float64
	td            *tdict.TensorDict
)
