package loadertest

import (
	"context"
	"errors"

	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// into loads all rows into memory of one row more, with a Loader. Only tensors can have such
// memory.
func (c *checker) into() error {
	if c.n == 0 {
		return nil
	}
	for _, leaf := range c.want.Leaves() {
		if _, ok := leaf.(*tensor.Tensor); !ok {
			return nil
		}
	}
	mem, err := tdict.SchemaOf(c.want).Zeros(append([]int{len(c.rows) + 1}, c.want.Shape()[1:]...)...)
	if err != nil {
		return err
	}
	rows, err := loader.Subset(c.src, c.rows)
	if err != nil {
		return err
	}
	l, err := loader.New(rows, loader.Options{
		Batch: len(c.rows), Into: func(context.Context) (*tdict.TensorDict, error) { return mem, nil },
	})
	if err != nil {
		return err
	}
	for batch, err := range l.Batches(c.ctx) {
		if err != nil {
			return err
		}
		for key, leaf := range batch.Leaves() {
			if leaf.(*tensor.Tensor).Size() == 0 {
				continue
			}
			if x, err := mem.Tensor(key); err != nil || !x.SharesMemory(leaf.(*tensor.Tensor)) {
				return errors.New("the batch is not in the memory that was given")
			}
		}
		if err := c.same(batch, c.all(0, len(c.rows))); err != nil {
			return err
		}
	}
	return nil
}
