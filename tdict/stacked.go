package tdict

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Stacked is a leaf that keeps one value, a member, for each position of a dim, the stack dim.
// Each member has its own memory, dtype and features. All members are leaves of one kind, or
// Stacked values of such leaves. A position has no member if the dictionary that was stacked there
// lacks the key. [LazyStack] makes Stacked leaves.
//
// The shape of a Stacked has the leading dims S that all members share, with the stack dim of size
// N inserted:
//
//	members [S... Fi...] -> [S[:dim] N S[dim:]]
//
// Operations on positions of the stack dim share members: Index at one position of it returns the
// member itself, Index with a range, a list or a mask returns a Stacked of some members. Operations
// on other dims apply to each member. Writing to a Stacked writes to its members.
//
// An operation on the stack dim together with other dims, such as Index with a mask over several
// dims, a Reshape across the stack dim, or padding, works on the result of Dense. It returns a
// copy, or shapeops.ErrShape if members differ.
//
// Safe for concurrent readers; a writer needs exclusive access, as with a map.
type Stacked struct {
	dim     int
	members []stackMember // the list never changes
	shape   shapeops.Shape
}

// A stackMember is a member of a Stacked, or the lack of one.
type stackMember struct {
	value Value // without the stack dim; nil if there is no member
	batch int   // the number of batch dims of the dictionary that was stacked
}

// newStacked returns a Stacked of members, of which at least one has a value. It returns
// shapeops.ErrShape if the shapes differ in a dim before the stack dim, and ErrKind if the values
// are of different kinds.
func newStacked(dim int, members []stackMember) (*Stacked, error) {
	var first Value
	var same shapeops.Shape
	for i, m := range members {
		switch {
		case m.value == nil:
		case first == nil:
			first, same = m.value, m.value.Shape()
		case opsOf(leafOf(m.value)) != opsOf(leafOf(first)):
			return nil, fmt.Errorf("member %d: %w", i, mismatch(m.value, first))
		default:
			same = same[:agreeing(same, m.value.Shape())]
		}
		if first != nil && dim > len(same) {
			return nil, fmt.Errorf("member %d: %w: got %s, want the first %d dims of %s", i, shapeops.ErrShape,
				describe(m.value), dim, describe(first))
		}
	}
	shape := slices.Insert(same.Clone(), dim, len(members))
	return &Stacked{dim, members, shape}, shape.Check()
}

// agreeing returns the number of leading dims in which two shapes agree.
func agreeing(a, b shapeops.Shape) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Shape returns the leading dims that all members share, with the stack dim inserted. The caller
// must not change it.
func (s *Stacked) Shape() shapeops.Shape { return s.shape }

// Dim returns the stack dim.
func (s *Stacked) Dim() int { return s.dim }

// Len returns the size of the stack dim.
func (s *Stacked) Len() int { return len(s.members) }

// Member returns the member at position i of the stack dim; a negative i counts from the end. It
// returns shapeops.ErrIndex if the position is out of range, [ErrMissing] if there is no member at
// it, and [ErrKind] if s is nil or zero.
func (s *Stacked) Member(i int) (Leaf, error) {
	if !s.valid() {
		return nil, errNoStacked
	}
	at, err := s.shape.At(s.dim, i)
	if err != nil {
		return nil, err
	}
	if s.members[at].value == nil {
		return nil, s.lacks(at)
	}
	return s.members[at].value, nil
}

func (s *Stacked) lacks(i int) error {
	return fmt.Errorf("%w: the stacked leaf has no member %d", ErrMissing, i)
}

// valid reports whether s is neither nil nor a zero value.
func (s *Stacked) valid() bool { return s != nil && s.members != nil }

var errNoStacked = fmt.Errorf("%w: got no stacked value", ErrKind)

// first returns the first member that is there.
func (s *Stacked) first() Value {
	for _, m := range s.members {
		if m.value != nil {
			return m.value
		}
	}
	panic("tdict: impossible: a Stacked without a value")
}

// leafOf returns v or, if v is a Stacked, its first leaf of another kind.
func leafOf(v Value) Value {
	for s, ok := v.(*Stacked); ok; s, ok = v.(*Stacked) {
		v = s.first()
	}
	return v
}

// Uniform reports whether all members are there and have the same dtype and shape, so that Dense
// can stack them.
func (s *Stacked) Uniform() bool { return s.valid() && s.checkUniform() == nil }

// checkUniform returns shapeops.ErrShape, with the number of the member, unless s is uniform. If a
// member is missing, the error is also ErrMissing.
func (s *Stacked) checkUniform() error {
	first := s.first()
	for i, m := range s.members {
		if m.value == nil {
			return fmt.Errorf("%w: %w", shapeops.ErrShape, s.lacks(i))
		}
		if !alike(m.value, first) {
			return fmt.Errorf("%w: member %d is %s, the first is %s", shapeops.ErrShape, i, describe(m.value), describe(first))
		}
		if inner, ok := m.value.(*Stacked); ok {
			if err := inner.checkUniform(); err != nil {
				return fmt.Errorf("member %d: %w", i, err)
			}
		}
	}
	return nil
}

// alike reports whether two members have the same dtype and shape.
func alike(a, b Value) bool {
	if !a.Shape().Equal(b.Shape()) {
		return false
	}
	if t, ok := a.(*tensor.Tensor); ok { // the usual kind
		if u, ok := b.(*tensor.Tensor); ok {
			return t.DType() == u.DType()
		}
	}
	if opsOf(a) != opsOf(b) { // one is a Stacked
		_, ok := leafOf(a).(*tensor.Tensor)
		return ok && opsOf(a).spec(a).DType == opsOf(b).spec(b).DType
	}
	got, want := opsOf(a).spec(a), opsOf(b).spec(b)
	return got.DType == want.DType && got.Depth == want.Depth && got.Shape.Equal(want.Shape)
}

// Dense returns a copy of the members in one value of their kind, stacked along the stack dim. It
// returns shapeops.ErrShape, with the number of the member, if a member is missing or members
// differ in dtype or shape, [ErrDiffers] for unbatched tensors that differ, and [ErrKind] if s is
// nil or zero.
func (s *Stacked) Dense() (Value, error) {
	if !s.valid() {
		return nil, errNoStacked
	}
	if err := s.checkUniform(); err != nil {
		return nil, err
	}
	values, rank := make([]Value, len(s.members)), len(s.shape)-1
	for i, m := range s.members {
		v, err := denseOf(m.value)
		if err != nil {
			return nil, err
		}
		values[i], rank = v, min(rank, m.batch)
	}
	j, err := plan.Stack(len(values), func(i int) shapeops.Shape { return values[i].Shape()[:rank] }, s.dim)
	if err != nil {
		return nil, err
	}
	return opsOf(values[0]).joined(&plan.Pass{Join: j}, values)
}

// denseOf returns v, or v.Dense() if v is a Stacked.
func denseOf(v Value) (Value, error) {
	if s, ok := v.(*Stacked); ok {
		return s.Dense()
	}
	return v, nil
}

// Dense returns td with [Stacked.Dense] in the place of each [Stacked] leaf. Other leaves are
// shared. It returns shapeops.ErrShape, with the key and the number of the member, if members
// differ or are missing.
func (td *TensorDict) Dense() (*TensorDict, error) {
	out, err := td.dense(func(*Stacked) bool { return true })
	return out, failed("dense", err)
}

// dense is Dense of the Stacked leaves for which chosen returns true.
func (td *TensorDict) dense(chosen func(s *Stacked) bool) (*TensorDict, error) {
	out := &TensorDict{batch: td.batch, header: td.header}
	stacked := false // whether a leaf or a dictionary is still stacked
	var name nestedkey.Key
	var err error
	out.entries, name, err = td.entries.mapped(func(_ column, v Value) (Value, error) {
		if d, ok := v.(*TensorDict); ok {
			d, err := d.dense(chosen)
			stacked = stacked || err == nil && d.stack != nil
			return asValue(d, err)
		}
		s, ok := v.(*Stacked)
		if ok && chosen(s) {
			return s.Dense()
		}
		stacked = stacked || ok
		return v, nil
	})
	if err != nil {
		return nil, within("dense", name, err)
	}
	if !stacked {
		out.stack = nil
	}
	return out, nil
}

// LazyStack stacks dictionaries along a new dim without copying: each leaf of the result is a
// [Stacked] of the leaves under its key. The dictionaries may have different keys, and different
// dtypes and shapes under one key. Dictionaries under one key are stacked in the same way.
//
// The batch shape of the result has the leading dims S that all batch shapes share, with the stack
// dim of size N inserted at dim:
//
//	dictionaries [S... Ti...] -> [S[:dim] N S[dim:]]
//
// Episodes of [5] and [8] rows stacked at dim 0 have batch shape [2]. A negative dim counts from
// the end of the result's batch shape. Keys are in the order of their first appearance. Dims have
// the names that all dictionaries have.
//
// Index of the result at a position of the stack dim returns the leaves of the dictionary that was
// stacked there. A nested dictionary is left out if it has no leaf there. [Members] is the reverse
// of LazyStack. (Python: lazy_stack.)
//
// LazyStack returns shapeops.ErrShape if there is no dictionary or dim is out of range, and
// [ErrKind] if a dictionary is nil or, with the key and the number of the dictionary, if the values
// under a key are of different kinds.
func LazyStack(tds []*TensorDict, dim int) (*TensorDict, error) {
	if len(tds) == 0 {
		return nil, failed("lazy stack", fmt.Errorf("%w: got nothing to stack, want at least one dictionary", shapeops.ErrShape))
	}
	if i := slices.Index(tds, nil); i >= 0 {
		return nil, failed("lazy stack", fmt.Errorf("member %d: %w", i, errNil))
	}
	if dim < 0 {
		dim += len(agreedBatch(tds)) + 1
	}
	out, err := lazyStack(tds, dim)
	return out, failed("lazy stack", err)
}

// MaybeDense is [LazyStack], except that leaves that are [Stacked.Uniform] are stacked densely, in
// new memory.
func MaybeDense(tds []*TensorDict, dim int) (*TensorDict, error) {
	out, err := LazyStack(tds, dim)
	if err != nil {
		return nil, err
	}
	out, err = out.dense((*Stacked).Uniform)
	return out, failed("maybe dense", err)
}

// agreedBatch returns the leading dims on which the batch shapes of all dictionaries agree. It
// skips nil dictionaries.
func agreedBatch(tds []*TensorDict) (same shapeops.Shape) {
	first := true
	for _, td := range tds {
		switch {
		case td == nil:
		case first:
			same, first = td.batch, false
		default:
			same = same[:agreeing(same, td.batch)]
		}
	}
	return same
}

// lazyStack is LazyStack of dictionaries of which some, but not all, may be nil.
func lazyStack(tds []*TensorDict, dim int) (*TensorDict, error) {
	same := agreedBatch(tds)
	if dim < 0 || dim > len(same) {
		return nil, fmt.Errorf("%w: got stack dim %d, want 0 to %d: the batch shapes share the first dims %v", shapeops.ErrShape, dim, len(same), same)
	}
	head := tds[slices.IndexFunc(tds, func(td *TensorDict) bool { return td != nil })]
	out := &TensorDict{batch: slices.Insert(same.Clone(), dim, len(tds)), header: head.named(nil)}
	members := make([]stackMember, len(tds)) // empty dictionaries that keep the batch shapes
	for i, td := range tds {
		if td != nil {
			members[i] = stackMember{&TensorDict{batch: td.batch, header: header{stack: td.stack}}, len(td.batch)}
		}
	}
	out.stack = &Stacked{dim, members, out.batch}
	if names := head.namesShared(head.prefixNames(same), tds); names != nil {
		out.names = slices.Insert(names, dim, "")
	}
	names, all, from := byName(tds, true)
	values := make([]Value, len(names))
	for i := range all {
		v, err := stackColumn(dim, tds, all[i], from[i])
		if err != nil {
			return nil, within("lazy stack", names[i], err)
		}
		values[i] = v
	}
	out.entries, _, _ = storeOf(names, values)
	return out, out.batch.Check()
}

// stackColumn stacks the values under one name, of the dictionaries with the numbers in from.
func stackColumn(dim int, tds []*TensorDict, values []Value, from []int) (Value, error) {
	dicts, members := make([]*TensorDict, len(tds)), make([]stackMember, len(tds))
	_, isDict := values[0].(*TensorDict)
	for n, v := range values {
		i, ok := from[n], false
		if dicts[i], ok = v.(*TensorDict); ok != isDict {
			return nil, fmt.Errorf("member %d: %w", i, mismatch(v, values[0]))
		}
		members[i] = stackMember{v, len(tds[i].batch)}
	}
	if isDict {
		return asValue(lazyStack(dicts, dim))
	}
	return asValue(newStacked(dim, members))
}
