package ragged

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fill is a dense tensor that is to be filled, that of a field perhaps.
type fill struct {
	tr    *tensor.Transfer
	name  string
	bytes int
}

// largeFill is how many bytes of a dense tensor are worth a second core.
const largeFill = 4 << 20

// finish fills what is to be filled, several tensors at the same time: one core fills the whole of
// a large one faster, past the caches, than several fill parts of it.
func (d *denser) finish() error {
	fills := d.fills
	d.fills = nil
	cores, large := workers.Count(d.opt.Workers, math.MaxInt), 0
	for _, f := range fills {
		if f.bytes > largeFill {
			large++
		}
	}
	each := max(1, cores/max(1, large))
	return workers.Do(context.Background(), len(fills), cores, func(i int) error {
		fills[i].tr.Workers = each
		return fills[i].run()
	})
}

func (f *fill) run() error {
	err := f.tr.Run()
	if err != nil && f.name != "" {
		return fmt.Errorf("field %q: %w", f.name, err)
	}
	return err
}
