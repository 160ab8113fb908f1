// What the fences of docs/samplecache.md use without declaring it.
package fence

import (
	"context"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/samplecache"
)

var (
	ctx         context.Context
	rank, world int
	group       *samplecache.Group
	epoch       uint64
	state       loader.State
	opt         loader.Options
)

func seed(number uint64) uint64

func paint(pixels []uint8, seed uint64)
