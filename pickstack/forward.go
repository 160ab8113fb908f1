package pickstack

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// Forward returns the output for the given inputs:
//
//	xs[n] [B P_n C_n] -> [B A sum(C_n)]
//
// It returns
//
//   - shapeops.ErrShape if the number of tensors is not the number of inputs, if a tensor does
//     not have the number of rows in the plan, or if tensors differ in B
//   - shapeops.ErrDim if a tensor does not have three dims
//   - tensor.ErrDType if dtypes differ or are not floating-point
//   - tensor.ErrKind if a tensor is nil
//   - tensor.ErrMeta if a tensor is on device meta
//   - tensor.ErrLayout if the memory of a tensor is not aligned
//   - [ErrOptions] if MinValue or Empty is finite but overflows the dtype
//   - an error of the memory of a tensor, if it cannot be read
func (p *Plan) Forward(xs ...*tensor.Tensor) (*tensor.Tensor, error) {
	dtype, batch, channels, err := p.checkInputs(xs)
	if err == nil {
		err = checkElements(xs) // before out is allocated
	}
	if err != nil {
		return nil, p.named(err)
	}
	out, err := tensor.New(dtypes[dtype], batch, p.rows, channels)
	if err != nil {
		return nil, p.named(err)
	}
	if err := p.ForwardInto(out, xs...); err != nil {
		return nil, err
	}
	return out, nil
}

// ForwardInto is [Plan.Forward] into out, of any layout:
//
//	xs[n] [B P_n C_n], out [B A sum(C_n)]
//
// It also returns tensor.ErrOverlap if out shares elements with an input, tensor.ErrReadOnly if out
// is read-only, tensor.ErrLayout if elements of out share memory, and shapeops.ErrShape,
// shapeops.ErrDim and tensor.ErrDType if out has the wrong shape or dtype. On these errors nothing
// has changed. After a fault in mapped memory, or if a mapped file is closed meanwhile, a part of
// out may have changed.
func (p *Plan) ForwardInto(out *tensor.Tensor, xs ...*tensor.Tensor) error {
	return p.named(p.forwardInto(out, xs))
}

func (p *Plan) forwardInto(out *tensor.Tensor, xs []*tensor.Tensor) error {
	dtype, batch, channels, err := p.checkInputs(xs)
	if err != nil {
		return err
	}
	if err := p.checkOutput(out, dtype, batch, channels); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	c := p.begin(dtype)
	defer p.done(dtype, c)
	o := c.tensors()
	o.set(xs)
	o.src, o.dst, o.backward, o.add = append(o.src, xs...), append(o.dst, out), false, false
	if err := o.checkApart(); err != nil {
		return err
	}
	return c.forward()
}

// named adds the name of the operation to an error.
func (p *Plan) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", cmp.Or(p.op, "plan"), err)
}

// forward sets the output, tile by tile.
func (c *call[E, T, K]) forward() error {
	_, count := tiles(c.plan.rows, c.total*c.width())
	if c.dst[0].Size() == 0 {
		count = 0
	}
	numbers := c.plan.rows * c.total
	for n := range c.plan.tables {
		numbers += c.plan.tables[n].size() * c.channels[n]
	}
	return c.run(count*c.batch, c.bytes(numbers), c.tile)
}

// forwardTile sets some rows of the output, from all inputs.
func (w *worker[E, T, K]) forwardTile(task int) {
	step, count := tiles(w.plan.rows, w.total*w.width())
	b, lo := task/count, task%count*step
	hi := min(lo+step, w.plan.rows)
	for n := range w.from {
		m := move[E, T]{
			table: w.plan.tables[n], src: &w.from[n], dst: &w.to[0], channels: w.channels[n],
			fold: w.fold, neutral: w.neutral,
		}
		m.from, m.to = b*m.src.batch, b*m.dst.batch+w.offsets[n]*m.dst.channel
		if m.splits != nil {
			m.rule = &w.plan.rule
		}
		w.move(&m, lo, hi)
	}
}
