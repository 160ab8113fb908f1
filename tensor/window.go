package tensor

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Window returns a window of each row, the rows being t's leading dims, with a start of its own
// along each of the given dims:
//
//	t [N... L F...], starts [N...], one dim -> [N... size F...]
//	t [N... C H W], starts [N... 2], two dims -> [N... C h w]
//
// starts holds integers. With several dims, its last dim has a start for each. Negative dims count
// from the last, so that -2 and -1 crop [N C H W] and [N H W] alike. The result is a copy. It
// returns shapeops.ErrDim, shapeops.ErrShape, shapeops.ErrIndex and the errors of [Tensor.Ints].
func (t *Tensor) Window(starts *Tensor, dims, sizes []int) (*Tensor, error) {
	return t.executed(PlanWindow(t.view.Shape, starts, dims, sizes))
}

// WindowInto is [Tensor.Window] into a tensor that the caller owns, which must have the dtype and
// the shape of the result. Its errors are also those of [Transfer]; on an error nothing has
// changed. In a loop that reuses dst, only headers and a number for each row are allocated.
func (t *Tensor) WindowInto(dst, starts *Tensor, dims, sizes []int) error {
	p, err := PlanWindow(t.view.Shape, starts, dims, sizes)
	return t.executedInto(dst, p, err)
}

// SetWindow writes value, broadcast, to the windows of t that [Tensor.Window] would return. Its
// errors are also those of [Transfer]; on an error nothing has changed.
func (t *Tensor) SetWindow(value, starts *Tensor, dims, sizes []int) error {
	p, err := PlanWindow(t.view.Shape, starts, dims, sizes)
	if err != nil {
		return err
	}
	var tr Transfer
	if err := t.Verbs().AddWrite(&tr, value, plan.NewPass(p)); err != nil {
		return err
	}
	return tr.Run()
}

// PlanWindow plans to cut windows out of a value of shape s, as [Tensor.Window] does.
func PlanWindow(s shapeops.Shape, starts *Tensor, dims, sizes []int) (*plan.Plan, error) {
	if starts == nil {
		return nil, fmt.Errorf("starts: %w", errNil)
	}
	rank := len(starts.view.Shape)
	if len(dims) > 1 {
		if rank--; rank < 0 || starts.view.Shape[rank] != len(dims) {
			return nil, fmt.Errorf("%w: starts: got %v, want a last dim of %d, one for each dim of the windows",
				shapeops.ErrShape, starts.view.Shape, len(dims))
		}
	}
	if rows := starts.view.Shape[:rank]; !s.HasPrefix(rows) {
		return nil, fmt.Errorf("%w: starts: got rows %v, want the leading dims of %v", shapeops.ErrShape, rows, s)
	}
	for _, dim := range dims {
		if _, err := s.Dim(dim); err != nil {
			return nil, err
		}
	}
	list, err := starts.Ints()
	if err != nil {
		return nil, fmt.Errorf("starts: %w", err)
	}
	return plan.Window(s, rank, list, dims, sizes)
}
