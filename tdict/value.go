package tdict

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Value is the value of an entry: *tensor.Tensor, *[TensorDict], *ragged.Tensor, *[Data],
// *[Unbatched] or *[Stacked]. Functions return [ErrKind] for other types.
type Value interface {
	// Shape returns the shape. For a dictionary and a ragged tensor it is the batch shape, for a
	// Stacked the shape on which its members agree.
	Shape() shapeops.Shape
}

// A Leaf is a Value that is not a dictionary.
type Leaf interface{ Value }

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
		ops: func(t *tensor.Tensor) typedOps[*tensor.Tensor] { return t.Ops() },
		fit: fitTensor, zeros: zeroTensor, describe: describeTensor, show: showTensor, valid: validTensor,
		specs:    func(t *tensor.Tensor) Spec { return Spec{DType: t.DType()} },
		elements: func(t *tensor.Tensor) elementwise { return elementsOfTensor{t} },
	}
	dicts = &kind[*TensorDict]{
		ops: func(td *TensorDict) typedOps[*TensorDict] { return (*dictOps)(td) },
		fit: fitDict, zeros: zeroDict, describe: describeDict, show: showDict, valid: validDict,
		specs:   func(*TensorDict) Spec { return Spec{Kind: KindDict} },
		cloneIn: (*TensorDict).cloneIn, executeIn: executeIn,
	}
	raggeds = &kind[*ragged.Tensor]{
		ops: func(t *ragged.Tensor) typedOps[*ragged.Tensor] { return t.Ops() },
		fit: fitRagged, zeros: zeroRagged, describe: (*ragged.Tensor).Text, show: showRagged,
		specs: specRagged,
		valid: validRagged, cloneIn: cloneRagged, pads: checkRaggedPad,
		elements: func(t *ragged.Tensor) elementwise { return elementsOfRagged{t} },
	}
	datas = &kind[*Data]{
		ops: func(d *Data) typedOps[*Data] { return (*dataOps)(d) },
		fit: fitData, zeros: zeroData, describe: describeData, show: showData, valid: (*Data).valid,
		specs:   func(*Data) Spec { return Spec{Kind: KindData} },
		uniform: uniformData,
	}
	unbatcheds = &kind[*Unbatched]{
		ops: func(u *Unbatched) typedOps[*Unbatched] { return (*unbatchedOps)(u) },
		fit: fitUnbatched, zeros: zeroUnbatched, describe: describeUnbatched, show: showUnbatched,
		specs: specUnbatched,
		valid: (*Unbatched).valid, through: true, uniform: uniformUnbatched,
	}
	stackeds = &stackedKind{kind[*Stacked]{
		fit: fitStacked, describe: (*Stacked).Text, show: showStacked, valid: (*Stacked).valid,
		specs:    specStacked,
		elements: stackedElements,
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
	preview(v Value, n int) json.Marshaler
	log(v Value) slog.Value
	spec(v Value) Spec
	passes(v Value) bool
	elementwise(v Value) elementwise
	alike(v Value, shape shapeops.Shape) (Value, error)
}

// typedValue has the methods that each kind of value has on its own type.
type typedValue[T any] interface {
	Value
	Clone() (T, error)
	Equal(x T) bool
	Preview(n int) json.Marshaler
	slog.LogValuer
	Diff(x T) (string, error)
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
type kind[T typedValue[T]] struct {
	// ops returns the operations of v.
	ops func(v T) typedOps[T]
	// fit returns v as an entry of a dictionary with the given batch shape.
	fit func(v T, batch shapeops.Shape) (T, error)
	// zeros returns a value of zeros like v, with another shape. Layouts that values share are made
	// once in p.
	zeros func(v T, p *plan.Pass, shape shapeops.Shape) (T, error)
	// describe returns a description of v for errors.
	describe func(v T) string
	// show prints v as an entry. more adds details about memory and locks.
	show func(v T, more bool) string
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
	return asValue(k.fit(v.(T), batch))
}

func (k *kind[T]) zerosLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error) {
	return asValue(k.zeros(v.(T), p, shape))
}

func (k *kind[T]) text(v Value) string { return k.describe(v.(T)) }

func (k *kind[T]) texts(v Value) ([]string, error) { return k.ops(v.(T)).Texts() }

func (k *kind[T]) print(v Value, more bool) string { return k.show(v.(T), more) }

func (k *kind[T]) json(v Value, b []byte) ([]byte, error) { return k.ops(v.(T)).AppendJSON(b) }

func (*kind[T]) preview(v Value, n int) json.Marshaler { return v.(T).Preview(n) }

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
	if !ok {
		return k.writeDense(tr, dst, src, p)
	}
	return k.ops(dst.(T)).AddWrite(tr, s, p)
}

// writeDense is write of the Dense value of src. It returns an error unless src is a Stacked of
// dst's kind.
func (k *kind[T]) writeDense(tr *tensor.Transfer, dst, src Value, p *plan.Pass) error {
	s, ok := src.(*Stacked)
	if !ok || opsOf(s.first()) != opsOf(dst) {
		return mismatch(src, dst)
	}
	d, err := s.Dense()
	if err != nil {
		return err
	}
	return k.write(tr, dst, d, p)
}

func (*kind[T]) equal(a, b Value) bool {
	other, ok := b.(T)
	return ok && a.(T).Equal(other)
}

func (*kind[T]) diff(a, b Value) (string, error) {
	other, ok := b.(T)
	if !ok {
		return fmt.Sprintf("%s, other %s", describe(a), describe(b)), nil
	}
	return a.(T).Diff(other)
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

// withColumn calls fn with the values of a column, in a slice that p keeps for the next column.
func withColumn[T typedValue[T]](p *plan.Pass, xs []*TensorDict, c column, fn func(values []T) error) error {
	kept, _ := plan.Once(p, (*kind[T])(nil), func() (*[]T, error) { return new([]T), nil })
	values := (*kept)[:0]
	*kept = nil // fn may call withColumn for nested dictionaries
	for i, x := range xs {
		v, err := c.of(x)
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		t, ok := v.(T)
		if !ok {
			first, _ := c.of(xs[0])
			if v, err = asKindOf(v, first); err == nil {
				t, ok = v.(T)
			}
		}
		if !ok {
			return fmt.Errorf("value %d: %w", i, err)
		}
		if values == nil {
			values = make([]T, 0, len(xs))
		}
		values = append(values, t)
	}
	err := fn(values)
	*kept = values
	return err
}

// checkValue returns ErrKind unless v is a Value that a dictionary can hold.
func checkValue(v Value) error {
	if t, ok := v.(*tensor.Tensor); ok && t != nil {
		if t.DType() != 0 {
			return nil
		}
	} else if k := opsOf(v); k != nil && k.isValid(v) {
		return nil
	}
	if opsOf(v) != nil {
		return fmt.Errorf("%w: got a %T that is nil or has its zero value", ErrKind, v)
	}
	const want = "*tensor.Tensor, *tdict.TensorDict, *ragged.Tensor, *tdict.Data, *tdict.Unbatched or *tdict.Stacked"
	return fmt.Errorf("%w: got %T, want a %s", ErrKind, v, want)
}

// asDict returns v as a dictionary, or nil and false.
func asDict(v Value) (*TensorDict, bool) {
	d, ok := v.(*TensorDict)
	return d, ok
}

// asTensor returns v as a tensor, or nil and false. v need not be a Value.
func asTensor(v any) (*tensor.Tensor, bool) {
	t, ok := v.(*tensor.Tensor)
	return t, ok
}

// asRagged returns v as a ragged tensor, or nil and false.
func asRagged(v Value) (*ragged.Tensor, bool) {
	t, ok := v.(*ragged.Tensor)
	return t, ok
}

// asStacked returns v as a Stacked, or nil and false. v need not be a Value.
func asStacked(v any) (*Stacked, bool) {
	s, ok := v.(*Stacked)
	return s, ok
}

// describe returns a description of v for errors.
func describe(v Value) string { return opsOf(v).text(v) }

// mismatch returns the error that got is of another kind than want.
func mismatch(got, want Value) error {
	return fmt.Errorf("%w: got %s, want %s", ErrKind, describe(got), describe(want))
}

// notDict returns the error of a key that leads through the leaf v, whose name is name.
func notDict(name string, v Value) error {
	return fmt.Errorf("%w: %q is %s", ErrNotDict, name, describe(v))
}

func fitTensor(t *tensor.Tensor, batch shapeops.Shape) (*tensor.Tensor, error) {
	return t, t.Shape().CheckPrefix(batch)
}

func validTensor(t *tensor.Tensor) bool { return t != nil && t.DType() != 0 }

func zeroTensor(t *tensor.Tensor, _ *plan.Pass, shape shapeops.Shape) (*tensor.Tensor, error) {
	if t.Device() == tensor.Meta {
		return tensor.NewMeta(t.DType(), shape...)
	}
	return tensor.New(t.DType(), shape...)
}

func describeTensor(t *tensor.Tensor) string { return fmt.Sprintf("%v %v", t.DType(), t.Shape()) }

func validDict(td *TensorDict) bool { return td != nil }

func zeroDict(td *TensorDict, _ *plan.Pass, shape shapeops.Shape) (*TensorDict, error) {
	return &TensorDict{batch: shape.Clone(), header: td.named(nil)}, nil
}

func describeDict(td *TensorDict) string { return fmt.Sprintf("dictionary %v", td.Shape()) }

// fitDict returns td, or a copy of td with batch shape batch and the same leaves if td's batch
// shape is shorter.
func fitDict(td *TensorDict, batch shapeops.Shape) (*TensorDict, error) {
	return fitted(td, td.batch, batch, func() (*TensorDict, error) { return td.withBatch(batch) })
}

// fitted returns v if own, its batch shape, begins with batch, and extend() if batch begins with
// own.
func fitted[T Value](v T, own, batch shapeops.Shape, extend func() (T, error)) (T, error) {
	if err := batch.Check(); err != nil || own.HasPrefix(batch) || !batch.HasPrefix(own) {
		return v, cmp.Or(err, own.CheckPrefix(batch))
	}
	return extend()
}
