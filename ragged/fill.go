package ragged

import (
	"context"
	"fmt"
	"math"

	"github.com/go-tensordict/tensordict/internal/workers"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fill is a transfer that fills one dense tensor, perhaps for a named field.
type fill struct {
	tr    *tensor.Transfer
	name  string
	bytes int
}

// largeFill is the size in bytes above which a second core speeds up filling a dense tensor.
const largeFill = 4 << 20

// finish runs all fills, several tensors at the same time. It is faster to fill a large tensor on
// one core, past the caches, than to divide it among several.
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
