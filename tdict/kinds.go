package tdict

import (
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// opsOf returns the operations on v, or nil if v is of no kind.
func opsOf(v Value) ops {
	switch v.(type) {
	case *tensor.Tensor:
		return tensors
	case *TensorDict:
		return dicts
	case *ragged.Tensor:
		return raggeds
	case *Data:
		return datas
	case *Unbatched:
		return unbatcheds
	case *Stacked:
		return stackeds
	}
	return nil
}

var (
	tensors    *kind[*tensor.Tensor]
	dicts      *kind[*TensorDict]
	raggeds    *kind[*ragged.Tensor]
	datas      *kind[*Data]
	unbatcheds *kind[*Unbatched]
	stackeds   *stackedKind
)

// The kinds are set in init because their functions call opsOf: initializers would be a cycle.
func init() {
	tensors = &kind[*tensor.Tensor]{
		ops:   func(t *tensor.Tensor) typedOps[*tensor.Tensor] { return t.Ops() },
		valid: func(t *tensor.Tensor) bool { return t != nil && t.DType() != 0 },
		zeros: func(t *tensor.Tensor, _ *plan.Pass, shape shapeops.Shape) (*tensor.Tensor, error) {
			if t.Device() == tensor.Meta {
				return tensor.NewMeta(t.DType(), shape...)
			}
			return tensor.New(t.DType(), shape...)
		},
		describe: func(t *tensor.Tensor) string { return fmt.Sprintf("%v %v", t.DType(), t.Shape()) },
		show:     showTensor, diffs: (*tensor.Tensor).Diff,
		previews: func(t *tensor.Tensor, n int) ([]byte, error) { return t.Preview(n).MarshalJSON() },
		specs:    func(t *tensor.Tensor) Spec { return Spec{DType: t.DType()} },
		elements: func(t *tensor.Tensor) elementwise { return elementsOfTensor{t} },
	}
	dicts = &kind[*TensorDict]{
		ops:   func(td *TensorDict) typedOps[*TensorDict] { return dictOps{td} },
		valid: func(td *TensorDict) bool { return td != nil },
		fit: func(td *TensorDict, batch shapeops.Shape) (*TensorDict, error) {
			return fitted(td, td.batch, batch, func() (*TensorDict, error) { return td.withBatch(batch) })
		},
		zeros: func(td *TensorDict, _ *plan.Pass, shape shapeops.Shape) (*TensorDict, error) {
			return &TensorDict{batch: shape.Clone(), header: td.named(nil)}, nil
		},
		describe: describeDict, show: showDict, diffs: (*TensorDict).Diff, previews: (*TensorDict).preview,
		specs:   func(*TensorDict) Spec { return Spec{Kind: KindDict} },
		cloneIn: (*TensorDict).cloneIn, executeIn: executeIn,
	}
	raggeds = &kind[*ragged.Tensor]{
		ops:   func(t *ragged.Tensor) typedOps[*ragged.Tensor] { return t.Ops() },
		valid: func(t *ragged.Tensor) bool { return t.DType() != 0 },
		zeros: func(t *ragged.Tensor, p *plan.Pass, shape shapeops.Shape) (*ragged.Tensor, error) {
			return nested(t).EmptyIn(p, shape...)
		},
		describe: (*ragged.Tensor).Text, show: showRagged, diffs: (*ragged.Tensor).Diff,
		previews: func(t *ragged.Tensor, n int) ([]byte, error) { return t.Preview(n).MarshalJSON() },
		specs: func(t *ragged.Tensor) Spec {
			return Spec{Kind: KindRagged, DType: t.DType(), Depth: t.Depth(), Shape: t.Features()}
		},
		cloneIn: func(t *ragged.Tensor, p *plan.Pass) (*ragged.Tensor, error) { return nested(t).CloneIn(p) },
		pads: func(t *ragged.Tensor, p *plan.Pass) error {
			if _, ok := p.Join.PadDim(t.Shape(), false); ok {
				return nil
			}
			return fmt.Errorf("%w: got %s to pad along a dim after its batch shape: Densify it first",
				shapeops.ErrDim, t.Text())
		},
		elements: func(t *ragged.Tensor) elementwise { return elementsOfRagged{t} },
	}
	datas = &kind[*Data]{
		ops: func(d *Data) typedOps[*Data] { return dataOps{d} },
		fit: fitData, describe: describeData, show: showData, valid: (*Data).valid,
		zeros: func(_ *Data, _ *plan.Pass, shape shapeops.Shape) (*Data, error) { return NewData(nil, shape...) },
		diffs: (*Data).diff, previews: (*Data).preview,
		specs: func(*Data) Spec { return Spec{Kind: KindData} },
		uniform: func(d *Data, shape shapeops.Shape) (Value, error) {
			v, one := d.Uniform()
			if !one {
				return nil, nil
			}
			return asValue(NewData(v, shape...))
		},
	}
	unbatcheds = &kind[*Unbatched]{
		ops: func(u *Unbatched) typedOps[*Unbatched] { return unbatchedOps{u} },
		fit: fitUnbatched, zeros: zeroUnbatched, describe: describeUnbatched, valid: (*Unbatched).valid,
		show:  func(u *Unbatched, more bool) string { return "Unbatched(" + showTensor(u.tensor, more) + ")" },
		diffs: (*Unbatched).diff, previews: (*Unbatched).preview,
		specs: func(u *Unbatched) Spec {
			return Spec{Kind: KindUnbatched, DType: u.tensor.DType(), Shape: u.tensor.Shape()}
		},
		through: true,
		uniform: func(u *Unbatched, shape shapeops.Shape) (Value, error) { return asValue(zeroUnbatched(u, nil, shape)) },
	}
	stackeds = &stackedKind{kind[*Stacked]{
		fit: fitStacked, describe: (*Stacked).Text, show: showStacked, valid: (*Stacked).valid,
		diffs: (*Stacked).diff, previews: (*Stacked).preview,
		specs: func(s *Stacked) Spec { return Spec{Kind: KindStacked, DType: s.DType()} },
		elements: func(s *Stacked) elementwise {
			if elements(s.first()) == nil {
				return nil
			}
			return elementsOfStacked{s}
		},
	}}
}

// ops are the operations on a value of any kind. Values that are combined must be of one kind;
// otherwise the error is ErrKind.
type ops interface {
	isValid(v Value) bool
	execute(v Value, p *plan.Pass) (Value, error)
	into(tr *tensor.Transfer, dst, v Value, p *plan.Pass) error
	write(tr *tensor.Transfer, dst, src Value, p *plan.Pass) error
	join(p *plan.Pass, xs []*TensorDict, c column) (Value, error)
	joined(p *plan.Pass, values []Value) (Value, error)
	joinTo(tr *tensor.Transfer, dst Value, p *plan.Pass, xs []*TensorDict, c column) error
	clone(v Value, p *plan.Pass) (Value, error)
	equal(a, b Value) bool
	diff(a, b Value) (string, error)
	differing(a, b Value, tol tensor.Tolerance) ([]tensor.ElementDiff, int, error)
	fitTo(v Value, batch shapeops.Shape) (Value, error)
	zerosLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error)
	text(v Value) string
	print(v Value, more bool) string
	texts(v Value) ([]string, error)
	json(v Value, b []byte) ([]byte, error)
	preview(v Value, n int) ([]byte, error)
	log(v Value) slog.Value
	spec(v Value) Spec
	passes(v Value) bool
	elementwise(v Value) elementwise
	alike(v Value, shape shapeops.Shape) (Value, error)
}

// typedOps are the operations of a kind of value that take and return its own type.
type typedOps[T any] interface {
	Execute(p *plan.Pass) (T, error)
	Join(p *plan.Pass, xs []T) (T, error)
	AddExecute(tr *tensor.Transfer, dst T, p *plan.Pass) error
	AddJoin(tr *tensor.Transfer, dst T, p *plan.Pass, xs []T) error
	AddWrite(tr *tensor.Transfer, src T, p *plan.Pass) error
	AppendJSON(b []byte) ([]byte, error)
	Texts() ([]string, error)
	Differing(x T, tol tensor.Tolerance, n int) ([]tensor.ElementDiff, int, error)
}

// A kind implements ops for one kind of value. Its fields are the functions that are not methods of
// T.
type kind[T interface {
	Value
	Clone() (T, error)
	Equal(x T) bool
	slog.LogValuer
}] struct {
	// ops returns the operations of v.
	ops func(v T) typedOps[T]
	// fit returns v as an entry of a dictionary with the given batch shape. Without it, v's shape
	// must begin with that shape.
	fit func(v T, batch shapeops.Shape) (T, error)
	// zeros returns a value of zeros like v, with another shape. Layouts that values share are made
	// once in p.
	zeros func(v T, p *plan.Pass, shape shapeops.Shape) (T, error)
	// describe returns a description of v for errors.
	describe func(v T) string
	// show prints v as an entry. more adds details about memory and locks.
	show func(v T, more bool) string
	// diffs returns the first difference between a and b, or "".
	diffs func(a, b T) (string, error)
	// previews returns v as JSON of bounded size.
	previews func(v T, n int) ([]byte, error)
	// specs returns the spec of v in a schema, without the dims that are in v.Shape.
	specs func(v T) Spec
	// valid reports whether v is neither nil nor zero.
	valid func(v T) bool
	// cloneIn is Clone in a pass, which makes layouts that values share once. It may be nil.
	cloneIn func(v T, p *plan.Pass) (T, error)
	// executeIn is Execute that may return nil. It may itself be nil.
	executeIn func(v T, p *plan.Pass) (Value, error)
	// pads returns an error if v cannot be joined with the padding of p. It may be nil.
	pads func(v T, p *plan.Pass) error
	// elements returns the elementwise of v. It is nil if the kind has no elements.
	elements func(v T) elementwise
	// through means that operations on a part of the rows return a value unchanged.
	through bool
	// uniform returns v with another shape if all rows are the same, otherwise nil. It may be nil.
	uniform func(v T, shape shapeops.Shape) (Value, error)
}

func (k *kind[T]) isValid(v Value) bool { return k.valid(v.(T)) }

func (k *kind[T]) execute(v Value, p *plan.Pass) (Value, error) {
	if k.executeIn != nil {
		return k.executeIn(v.(T), p)
	}
	return asValue(k.ops(v.(T)).Execute(p))
}

func (k *kind[T]) clone(v Value, p *plan.Pass) (Value, error) {
	if k.cloneIn == nil {
		return asValue(v.(T).Clone())
	}
	return asValue(k.cloneIn(v.(T), p))
}

func (k *kind[T]) fitTo(v Value, batch shapeops.Shape) (Value, error) {
	if k.fit == nil {
		return v, v.Shape().CheckPrefix(batch)
	}
	return asValue(k.fit(v.(T), batch))
}

func (k *kind[T]) zerosLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error) {
	return asValue(k.zeros(v.(T), p, shape))
}

func (k *kind[T]) text(v Value) string { return k.describe(v.(T)) }

func (k *kind[T]) texts(v Value) ([]string, error) { return k.ops(v.(T)).Texts() }

func (k *kind[T]) print(v Value, more bool) string { return k.show(v.(T), more) }

func (k *kind[T]) json(v Value, b []byte) ([]byte, error) { return k.ops(v.(T)).AppendJSON(b) }

func (k *kind[T]) preview(v Value, n int) ([]byte, error) { return k.previews(v.(T), n) }

func (*kind[T]) log(v Value) slog.Value { return v.(T).LogValue() }

func (k *kind[T]) spec(v Value) Spec { return k.specs(v.(T)) }

func (k *kind[T]) passes(Value) bool { return k.through }

func (k *kind[T]) elementwise(v Value) elementwise {
	if k.elements == nil {
		return nil
	}
	return k.elements(v.(T))
}

// alike returns v with another shape if all rows are the same, otherwise nil.
func (k *kind[T]) alike(v Value, shape shapeops.Shape) (Value, error) {
	if k.uniform == nil {
		return nil, nil
	}
	return k.uniform(v.(T), shape)
}

// asValue returns v as a Value, or nil with an error.
func asValue[T Value](v T, err error) (Value, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (k *kind[T]) into(tr *tensor.Transfer, dst, v Value, p *plan.Pass) error {
	d, ok := dst.(T)
	if !ok {
		return mismatch(v, dst)
	}
	return k.ops(v.(T)).AddExecute(tr, d, p)
}

func (k *kind[T]) write(tr *tensor.Transfer, dst, src Value, p *plan.Pass) error {
	s, ok := src.(T)
	if ok {
		return k.ops(dst.(T)).AddWrite(tr, s, p)
	}
	// src may be a Stacked of dst's kind
	x, ok := src.(*Stacked)
	if !ok || opsOf(x.first()) != opsOf(dst) {
		return mismatch(src, dst)
	}
	d, err := x.Dense()
	if err != nil {
		return err
	}
	return k.write(tr, dst, d, p)
}

func (*kind[T]) equal(a, b Value) bool {
	other, ok := b.(T)
	return ok && a.(T).Equal(other)
}

func (k *kind[T]) diff(a, b Value) (string, error) {
	other, ok := b.(T)
	if !ok {
		return fmt.Sprintf("%s, other %s", describe(a), describe(b)), nil
	}
	return k.diffs(a.(T), other)
}

// differing returns the first elements in which two leaves differ, and the number of all that do.
func (k *kind[T]) differing(a, b Value, tol tensor.Tolerance) ([]tensor.ElementDiff, int, error) {
	other, ok := b.(T)
	if !ok {
		return nil, 0, mismatch(b, a)
	}
	return k.ops(a.(T)).Differing(other, tol, shownElements)
}

// join joins the values of a column.
func (k *kind[T]) join(p *plan.Pass, xs []*TensorDict, c column) (v Value, err error) {
	err = withColumn(p, xs, c, func(values []T) error {
		v, err = k.joinTyped(p, values)
		return err
	})
	return v, err
}

// joined joins values of kind k.
func (k *kind[T]) joined(p *plan.Pass, values []Value) (Value, error) {
	xs := make([]T, len(values))
	for i, v := range values {
		xs[i] = v.(T)
	}
	return k.joinTyped(p, xs)
}

func (k *kind[T]) joinTyped(p *plan.Pass, xs []T) (Value, error) {
	if err := k.checkPad(p, xs[0]); err != nil {
		return nil, err
	}
	return asValue(k.ops(xs[0]).Join(p, xs))
}

// checkPad returns an error if v cannot be joined with the padding of p.
func (k *kind[T]) checkPad(p *plan.Pass, v T) error {
	if k.pads == nil || !p.Join.Padded() {
		return nil
	}
	return k.pads(v, p)
}

func (k *kind[T]) joinTo(tr *tensor.Transfer, dst Value, p *plan.Pass, xs []*TensorDict, c column) error {
	return withColumn(p, xs, c, func(values []T) error {
		d, ok := dst.(T)
		if !ok {
			return fmt.Errorf("destination: %w", mismatch(dst, values[0]))
		}
		if err := k.checkPad(p, values[0]); err != nil {
			return err
		}
		return k.ops(values[0]).AddJoin(tr, d, p, values)
	})
}

// withColumn calls fn with the values that xs have in a column, the first of which is a T. fn must
// not keep the slice: p keeps it for the next column.
func withColumn[T Value](p *plan.Pass, xs []*TensorDict, c column, fn func(values []T) error) error {
	kept, _ := plan.Once(p, (*T)(nil), func() (*[]T, error) { return new([]T), nil })
	values := (*kept)[:0]
	if cap(values) < len(xs) {
		values = make([]T, 0, len(xs))
	}
	*kept = nil // fn may call withColumn for nested dictionaries
	for i, x := range xs {
		v, err := c.of(x)
		if _, ok := v.(T); !ok && err == nil {
			v, err = asKindOf(v, values[0])
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		values = append(values, v.(T))
	}
	err := fn(values)
	*kept = values
	return err
}
