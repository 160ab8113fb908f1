package tdict

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// An Unbatched is a tensor that belongs to all rows of a batch alike, such as weights or a table of
// codes. Operations on the batch return it unchanged. (Python: UnbatchedTensor.) The shape of an
// Unbatched is a batch shape followed by the shape of the tensor. [TensorDict.Set] gives it the
// batch shape of the dictionary:
//
//	batch [B...], tensor [F...]: shape [B... F...]
//
// Operations change only the batch part, and their results share the tensor. Stack, Cat, and
// writing an unbatched tensor to a part of another, return [ErrDiffers] unless the tensors have the
// same bits. NaN equals NaN if the bits are the same.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Unbatched struct {
	batch, shape shapeops.Shape
	tensor       *tensor.Tensor
}

// NewUnbatched returns an Unbatched of t with batch shape []. It shares t. It returns [ErrKind] if
// t is nil or zero.
func NewUnbatched(t *tensor.Tensor) (*Unbatched, error) {
	if t == nil || t.DType() == 0 {
		return nil, fmt.Errorf("%w: got no tensor", ErrKind)
	}
	return unbatched(t, nil), nil
}

func unbatched(t *tensor.Tensor, batch shapeops.Shape) *Unbatched {
	return &Unbatched{batch, append(batch.Clone(), t.Shape()...), t}
}

// Shape returns the batch shape followed by the shape of the tensor. The caller must not change it.
func (u *Unbatched) Shape() shapeops.Shape { return u.shape }

// Tensor returns the tensor, not a copy.
func (u *Unbatched) Tensor() *tensor.Tensor { return u.tensor }

// Execute applies p.Plan to the batch shape of u.
func (u unbatchedOps) Execute(p *plan.Pass) (*Unbatched, error) {
	if !u.valid() {
		return nil, errNoUnbatched
	}
	if err := p.CheckPlan(u.batch); err != nil {
		return nil, err
	}
	return unbatched(u.tensor, p.Extend(u.batch)), nil
}

// Join returns the tensor of xs with their joined batch shape. It returns [ErrDiffers] if the
// tensors are not equal.
func (u unbatchedOps) Join(p *plan.Pass, xs []*Unbatched) (*Unbatched, error) {
	if err := p.CheckJoin(len(xs)); err != nil {
		return nil, err
	}
	for i, x := range xs {
		if err := u.checkSame(x, "first"); err != nil {
			return nil, fmt.Errorf("value %d: %w", i, err)
		}
	}
	shape, err := p.Join.Joined(len(xs), false, func(i int) shapeops.Shape { return xs[i].batch })
	if err != nil {
		return nil, err
	}
	return unbatched(u.tensor, shape), nil
}

// AddJoin adds nothing to tr. It returns an error unless dst equals the result of Join.
func (u unbatchedOps) AddJoin(_ *tensor.Transfer, dst *Unbatched, p *plan.Pass, xs []*Unbatched) error {
	out, err := u.Join(p, xs)
	if err != nil {
		return err
	}
	if err := dst.checkSame(out, "destination"); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if err := dst.batch.CheckEqual(out.batch); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return nil
}

// valid reports whether u is neither nil nor a zero value.
func (u *Unbatched) valid() bool { return u != nil && u.tensor != nil }

var errNoUnbatched = fmt.Errorf("%w: got no unbatched tensor", ErrKind)

// checkSame returns ErrKind if x is nil or zero, and ErrDiffers unless the tensors of u and x are
// equal bit for bit. name is the name of u in errors.
func (u *Unbatched) checkSame(x *Unbatched, name string) error {
	if !x.valid() {
		return errNoUnbatched
	}
	if u.tensor == x.tensor {
		return nil
	}
	text, err := u.tensor.Ops().(plan.BitDiffer[*tensor.Tensor]).DiffBits(x.tensor)
	if err == nil && text != "" {
		err = fmt.Errorf("%w: unbatched tensors must be equal: in the %s, %s", ErrDiffers, name, text)
	}
	return err
}

// AddExecute adds to tr: the elements of dst's tensor = the elements of u's tensor.
func (u unbatchedOps) AddExecute(tr *tensor.Transfer, dst *Unbatched, p *plan.Pass) error {
	if !u.valid() || !dst.valid() {
		return errNoUnbatched
	}
	if err := p.CheckPlan(u.batch); err != nil {
		return err
	}
	if err := dst.batch.CheckEqual(p.Extend(u.batch)); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if dst.tensor == u.tensor {
		return nil
	}
	if err := dst.tensor.Shape().CheckEqual(u.tensor.Shape()); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return tr.Copy(dst.tensor, u.tensor)
}

// AddWrite adds nothing to tr, since a part of the rows cannot have another tensor. It returns
// [ErrDiffers] unless the tensors are equal.
func (u unbatchedOps) AddWrite(_ *tensor.Transfer, src *Unbatched, _ *plan.Pass) error {
	return u.checkSame(src, "destination")
}

// Clone returns u with a copy of the tensor.
func (u *Unbatched) Clone() (*Unbatched, error) {
	if !u.valid() {
		return nil, errNoUnbatched
	}
	t, err := u.tensor.Clone()
	if err != nil {
		return nil, err
	}
	return unbatched(t, u.batch), nil
}

// Equal reports whether u and x have the same batch shape and equal tensors.
func (u *Unbatched) Equal(x *Unbatched) bool {
	return u.valid() && x.valid() && u.batch.Equal(x.batch) && u.tensor.Equal(x.tensor)
}

// diff describes the first difference between u and x, or returns "" if they are equal. It returns
// [ErrKind] if x is nil or one of the two is zero.
func (u *Unbatched) diff(x *Unbatched) (string, error) {
	if !u.valid() || !x.valid() {
		return "", errNoUnbatched
	}
	if !u.batch.Equal(x.batch) {
		return fmt.Sprintf("batch %v, other %v", u.batch, x.batch), nil
	}
	return u.tensor.Diff(x.tensor)
}

// String returns the batch shape and the tensor.
func (u *Unbatched) String() string { return fmt.Sprintf("unbatched %v of %v", u.batch, u.tensor) }

func describeUnbatched(u *Unbatched) string {
	return fmt.Sprintf("unbatched %v %v", u.tensor.DType(), u.tensor.Shape())
}

// fitUnbatched returns u with a batch shape that begins with batch: u itself, or one with batch
// shape batch if that begins with u's.
func fitUnbatched(u *Unbatched, batch shapeops.Shape) (*Unbatched, error) {
	return fitted(u, u.batch, batch, func() (*Unbatched, error) { return unbatched(u.tensor, batch), nil })
}

// Texts returns a description of the tensor.
func (v unbatchedOps) Texts() ([]string, error) {
	return []string{describeUnbatched(v.Unbatched)}, nil
}

func zeroUnbatched(u *Unbatched, _ *plan.Pass, shape shapeops.Shape) (*Unbatched, error) {
	return unbatched(u.tensor, shape[:len(shape)-len(u.tensor.Shape())]), nil
}
