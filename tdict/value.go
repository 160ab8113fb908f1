package tdict

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Value is what an entry holds: *tensor.Tensor, *[TensorDict], *ragged.Tensor, *[Data],
// *[Unbatched] or *[Stacked], and nothing else.
type Value interface {
	// Shape returns the shape; of a dictionary and a ragged tensor, the batch shape; of stacked
	// members, that on which they agree.
	Shape() shapeops.Shape
}

// A Leaf is a Value that is not a dictionary.
type Leaf interface{ Value }

// opsOf returns what can be done with a value, or nil if it is none. Nothing else lists the kinds.
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

// What is said of a kind leads back to opsOf, which in initializers would be a cycle.
func init() {
	tensors = &kind[*tensor.Tensor]{
		ops: func(t *tensor.Tensor) mover[*tensor.Tensor] { return t.Ops() },
		fit: fitTensor, zeros: zeroTensor, describe: describeTensor, show: showTensor, made: madeTensor,
		specs:    func(t *tensor.Tensor) Spec { return Spec{DType: t.DType()} },
		elements: func(t *tensor.Tensor) elementwise { return elementsOfTensor{t} },
		inRows:   (*raggedStack).tensor, checkRows: (*raggedUnstack).checkTensor, field: (*fieldMaker).tensor,
	}
	dicts = &kind[*TensorDict]{
		ops: func(td *TensorDict) mover[*TensorDict] { return (*dictOps)(td) },
		fit: fitDict, zeros: zeroDict, describe: describeDict, show: showDict, made: madeDict,
		specs:   func(*TensorDict) Spec { return Spec{Kind: KindDict} },
		cloneIn: (*TensorDict).cloneIn, executeIn: executeIn,
		inRows: (*raggedStack).nested, checkRows: (*raggedUnstack).checkLengths, row: (*raggedUnstack).nested,
	}
	raggeds = &kind[*ragged.Tensor]{
		ops: func(t *ragged.Tensor) mover[*ragged.Tensor] { return t.Ops() },
		fit: fitRagged, zeros: zeroRagged, describe: (*ragged.Tensor).Text, show: showRagged,
		specs: specRagged,
		made:  madeRagged, cloneIn: cloneRagged, pads: checkRaggedPad,
		elements: func(t *ragged.Tensor) elementwise { return elementsOfRagged{t} },
		inRows:   (*raggedStack).ragged, checkRows: (*raggedUnstack).checkLayout, row: (*raggedUnstack).ragged,
		field: (*fieldMaker).ragged,
	}
	datas = &kind[*Data]{
		ops: func(d *Data) mover[*Data] { return (*dataOps)(d) },
		fit: fitData, zeros: zeroData, describe: describeData, show: showData, made: (*Data).made,
		specs:   func(*Data) Spec { return Spec{Kind: KindData} },
		uniform: uniformData, inRows: (*raggedStack).data, checkRows: (*raggedUnstack).checkLists, row: (*raggedUnstack).data,
	}
	unbatcheds = &kind[*Unbatched]{
		ops: func(u *Unbatched) mover[*Unbatched] { return (*unbatchedOps)(u) },
		fit: fitUnbatched, zeros: zeroUnbatched, describe: describeUnbatched, show: showUnbatched,
		specs: specUnbatched,
		made:  (*Unbatched).made, through: true, uniform: uniformUnbatched,
		inRows: (*raggedStack).unbatched, row: (*raggedUnstack).unbatched, field: (*fieldMaker).unbatched,
	}
	stackeds = &stackedKind{kind[*Stacked]{
		fit: fitStacked, describe: (*Stacked).Text, show: showStacked, made: (*Stacked).made,
		specs:    specStacked,
		elements: stackedElements,
		inRows:   (*raggedStack).stacked, checkRows: (*raggedUnstack).checkStacked,
	}}
}

// ops is what tdict does with a value of any kind. Values that are combined must be of one kind;
// else the error is ErrKind.
type ops interface {
	valid(v Value) bool
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
	stacked(v Value, s *raggedStack) (Value, error)
	unstackable(v Value, u *raggedUnstack) error
	unstacked(v Value, u *raggedUnstack) (Value, error)
	asField(v Value, f *fieldMaker) (*ragged.Tensor, error)
}

// member is what a kind of value implements on its own type.
type member[T any] interface {
	Value
	Clone() (T, error)
	Equal(x T) bool
	Preview(n int) json.Marshaler
	slog.LogValuer
	Diff(x T) (string, error)
}

// mover is what tdict asks of the operations of a kind of value.
type mover[T any] interface {
	Execute(p *plan.Pass) (T, error)
	Join(p *plan.Pass, xs []T) (T, error)
	AddExecute(tr *tensor.Transfer, dst T, p *plan.Pass) error
	AddJoin(tr *tensor.Transfer, dst T, p *plan.Pass, xs []T) error
	AddWrite(tr *tensor.Transfer, src T, p *plan.Pass) error
	AppendJSON(b []byte) ([]byte, error)
	Texts() ([]string, error)
	Differing(x T, tol tensor.Tolerance, n int) ([]tensor.ElementDiff, int, error)
}

// A kind erases the type of one kind of value. Its functions are what the type itself cannot know.
type kind[T member[T]] struct {
	// ops returns the operations of v.
	ops func(v T) mover[T]
	// fit returns v as an entry of a dictionary with the given batch shape.
	fit func(v T, batch shapeops.Shape) (T, error)
	// zeros returns a value like v, of another shape, that holds nothing yet. What values share is
	// made once in a pass.
	zeros func(v T, p *plan.Pass, shape shapeops.Shape) (T, error)
	// describe says in an error what v is.
	describe func(v T) string
	// show prints v as an entry, with more about memory and locks on request.
	show func(v T, more bool) string
	// specs returns v's spec in a schema, without the dims that v's Shape has.
	specs func(v T) Spec
	// made reports whether v is neither nil nor a zero value that holds nothing.
	made func(v T) bool
	// cloneIn is the method Clone in a pass, in which what values share is made once. It may be
	// nil.
	cloneIn func(v T, p *plan.Pass) (T, error)
	// executeIn is the operation Execute where it may leave nothing. It may be nil.
	executeIn func(v T, p *plan.Pass) (Value, error)
	// pads returns an error if v cannot be joined as a pass says, which pads. It may be nil.
	pads func(v T, p *plan.Pass) error
	// elements returns how functions of elements work on v. It is nil if it has none.
	elements func(v T) elementwise
	// through says that operations on a part of the rows leave a value as it is.
	through bool
	// uniform returns v with another shape if all rows hold the same, or nil. It may be nil.
	uniform func(v T, shape shapeops.Shape) (Value, error)
	// inRows returns v with rows of rows.
	inRows func(s *raggedStack, v T) (Value, error)
	// checkRows returns an error unless the rows of v can become values. It may be nil.
	checkRows func(u *raggedUnstack, v T) error
	// row returns a row of v. It may be nil if checkRows lets none pass.
	row func(u *raggedUnstack, v T) (Value, error)
	// field returns v as a field of a collection. It may be nil.
	field func(f *fieldMaker, v T) (*ragged.Tensor, error)
}

func (k *kind[T]) valid(v Value) bool { return k.made(v.(T)) }

func (k *kind[T]) execute(v Value, p *plan.Pass) (Value, error) {
	if k.executeIn != nil {
		return k.executeIn(v.(T), p)
	}
	return some(k.ops(v.(T)).Execute(p))
}

func (k *kind[T]) clone(v Value, p *plan.Pass) (Value, error) {
	if k.cloneIn == nil {
		return some(v.(T).Clone())
	}
	return some(k.cloneIn(v.(T), p))
}

func (k *kind[T]) fitTo(v Value, batch shapeops.Shape) (Value, error) {
	return some(k.fit(v.(T), batch))
}

func (k *kind[T]) zerosLike(v Value, p *plan.Pass, shape shapeops.Shape) (Value, error) {
	return some(k.zeros(v.(T), p, shape))
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

// alike returns v with another shape if all rows hold the same, or nil.
func (k *kind[T]) alike(v Value, shape shapeops.Shape) (Value, error) {
	if k.uniform == nil {
		return nil, nil
	}
	return k.uniform(v.(T), shape)
}

func (k *kind[T]) stacked(v Value, s *raggedStack) (Value, error) { return k.inRows(s, v.(T)) }

func (k *kind[T]) unstackable(v Value, u *raggedUnstack) error {
	if k.checkRows == nil {
		return nil
	}
	return k.checkRows(u, v.(T))
}

func (k *kind[T]) unstacked(v Value, u *raggedUnstack) (Value, error) { return k.row(u, v.(T)) }

func (k *kind[T]) asField(v Value, f *fieldMaker) (*ragged.Tensor, error) {
	if k.field == nil {
		return nil, fmt.Errorf("%w: got %s, want a dense, a ragged or an unbatched tensor", ErrKind, describe(v))
	}
	return k.field(f, v.(T))
}

// some returns v as a Value, which is nil with an error.
func some[T Value](v T, err error) (Value, error) {
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

// writeDense is write of stacked members, or of a value of another kind, which is an error.
func (k *kind[T]) writeDense(tr *tensor.Transfer, dst, src Value, p *plan.Pass) error {
	s, ok := asStacked(src)
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

// differing returns the first elements in which leaves differ, and how many do.
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
		if err := k.checkPad(p, values[0]); err != nil {
			return err
		}
		v, err = some(k.ops(values[0]).Join(p, values))
		return err
	})
	return v, err
}

// joined joins values, which are of its kind.
func (k *kind[T]) joined(p *plan.Pass, values []Value) (Value, error) {
	xs := make([]T, len(values))
	for i, v := range values {
		xs[i] = v.(T)
	}
	if err := k.checkPad(p, xs[0]); err != nil {
		return nil, err
	}
	return some(k.ops(xs[0]).Join(p, xs))
}

// checkPad returns an error if v cannot be padded as a pass says.
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

// withColumn calls fn with the values of a column, gathered in a slice that the pass keeps for the
// next.
func withColumn[T member[T]](p *plan.Pass, xs []*TensorDict, c column, fn func(values []T) error) error {
	kept, _ := plan.Once(p, (*kind[T])(nil), func() (*[]T, error) { return new([]T), nil })
	values := (*kept)[:0]
	*kept = nil // a dictionary in the column takes another
	for i, x := range xs {
		v, err := c.of(x)
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
		t, ok := v.(T)
		if !ok {
			first, _ := c.of(xs[0])
			if v, err = beside(v, first); err == nil {
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
	} else if k := opsOf(v); k != nil && k.valid(v) {
		return nil
	}
	const want = "*tensor.Tensor, *tdict.TensorDict, *ragged.Tensor, *tdict.Data, *tdict.Unbatched or *tdict.Stacked that is not nil"
	return fmt.Errorf("%w: got %T, want a %s", ErrKind, v, want)
}

// asDict returns v as a dictionary, or nil and false.
func asDict(v Value) (*TensorDict, bool) {
	d, ok := v.(*TensorDict)
	return d, ok
}

// asTensor returns v, which may be no Value, as a tensor, or nil and false.
func asTensor(v any) (*tensor.Tensor, bool) {
	t, ok := v.(*tensor.Tensor)
	return t, ok
}

// asRagged returns v as a ragged tensor, or nil and false.
func asRagged(v Value) (*ragged.Tensor, bool) {
	t, ok := v.(*ragged.Tensor)
	return t, ok
}

// asUnbatched returns v as an unbatched tensor, or nil and false.
func asUnbatched(v Value) (*Unbatched, bool) {
	u, ok := v.(*Unbatched)
	return u, ok
}

// asStacked returns v, which may be no Value, as stacked members, or nil and false.
func asStacked(v any) (*Stacked, bool) {
	s, ok := v.(*Stacked)
	return s, ok
}

// describe says in an error what v is.
func describe(v Value) string { return opsOf(v).text(v) }

// mismatch is the error of a value of one kind where another is wanted.
func mismatch(got, want Value) error {
	return fmt.Errorf("%w: got %s, want %s", ErrKind, describe(got), describe(want))
}

// notDict returns the error of a key that leads through the leaf v, called name.
func notDict(name string, v Value) error {
	return fmt.Errorf("%w: %q is %s", ErrNotDict, name, describe(v))
}

func fitTensor(t *tensor.Tensor, batch shapeops.Shape) (*tensor.Tensor, error) {
	return t, t.Shape().CheckPrefix(batch)
}

func madeTensor(t *tensor.Tensor) bool { return t != nil && t.DType() != 0 }

func zeroTensor(t *tensor.Tensor, _ *plan.Pass, shape shapeops.Shape) (*tensor.Tensor, error) {
	if t.Device() == tensor.Meta {
		return tensor.NewMeta(t.DType(), shape...)
	}
	return tensor.New(t.DType(), shape...)
}

func describeTensor(t *tensor.Tensor) string { return fmt.Sprintf("%v %v", t.DType(), t.Shape()) }

func madeDict(td *TensorDict) bool { return td != nil }

func zeroDict(td *TensorDict, _ *plan.Pass, shape shapeops.Shape) (*TensorDict, error) {
	return &TensorDict{batch: shape.Clone(), header: td.named(nil)}, nil
}

func describeDict(td *TensorDict) string { return fmt.Sprintf("dictionary %v", td.Shape()) }

// fitDict returns td, or, if its batch shape is shorter than the one it must begin with, a copy of
// td with that batch shape and the same leaves.
func fitDict(td *TensorDict, batch shapeops.Shape) (*TensorDict, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	if td.batch.HasPrefix(batch) || !batch.HasPrefix(td.batch) {
		return td, td.batch.CheckPrefix(batch)
	}
	return td.withBatch(batch)
}
