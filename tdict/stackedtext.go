package tdict

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Clone returns s with copies of its members.
func (s *Stacked) Clone() (*Stacked, error) {
	if !s.valid() {
		return nil, errNoStacked
	}
	return s.each(func(v Value) (Value, error) { return opsOf(v).clone(v, nil) })
}

// Equal reports whether s and x have the same stack dim, members at the same positions, and equal
// members.
func (s *Stacked) Equal(x *Stacked) bool {
	text, err := s.diff(x)
	return text == "" && err == nil
}

// diff describes the first difference between s and x, with the number of the member, or returns ""
// if they are equal. It returns [ErrKind] if s or x is nil or zero.
func (s *Stacked) diff(x *Stacked) (string, error) {
	if !s.valid() || !x.valid() {
		return "", errNoStacked
	}
	if s.dim != x.dim || len(s.members) != len(x.members) {
		return fmt.Sprintf("%s of dim %d, other %s of dim %d", s.Text(), s.dim, x.Text(), x.dim), nil
	}
	for i, m := range s.members {
		v, w := m.value, x.members[i].value
		if v == nil || w == nil {
			if v != w {
				return fmt.Sprintf("member %d: %s, other %s", i, describeMember(v), describeMember(w)), nil
			}
			continue
		}
		text, err := opsOf(v).diff(v, w)
		if err != nil {
			return "", fmt.Errorf("member %d: %w", i, err)
		}
		if text != "" {
			return fmt.Sprintf("member %d: %s", i, text), nil
		}
	}
	return "", nil
}

// describeMember is describe for a member that may be missing.
func describeMember(v Value) string {
	if v == nil {
		return "none"
	}
	return describe(v)
}

// differing returns the first elements in which members differ, and the number of all elements that
// differ.
func (k *stackedKind) differing(a, b Value, tol tensor.Tolerance) (all []tensor.ElementDiff, count int, err error) {
	s, _ := a.(*Stacked)
	x, ok := b.(*Stacked)
	switch {
	case !ok:
		return nil, 0, mismatch(b, a)
	case s.dim != x.dim || len(s.members) != len(x.members):
		return nil, 0, fmt.Errorf("%w: got %s of dim %d, want %s of dim %d", shapeops.ErrShape, x.Text(), x.dim, s.Text(), s.dim)
	}
	for i, m := range s.members {
		v, w := m.value, x.members[i].value
		if v == nil && w == nil {
			continue
		}
		if v == nil || w == nil {
			return nil, 0, fmt.Errorf("member %d: %w: got %s, want %s", i, shapeops.ErrShape, describeMember(w), describeMember(v))
		}
		if opsOf(v) != opsOf(w) {
			return nil, 0, fmt.Errorf("member %d: %w", i, mismatch(w, v))
		}
		diffs, n, err := opsOf(v).differing(v, w, tol)
		if err != nil {
			return nil, 0, fmt.Errorf("member %d: %w", i, err)
		}
		for _, d := range diffs {
			d.Position = slices.Insert(slices.Clone(d.Position), min(s.dim, len(d.Position)), i)
			all = append(all, d)
		}
		count += n
	}
	return all[:min(len(all), shownElements)], count, nil
}

// sizes returns the sizes of the dims that all members have, with the stack dim, as text. A size is
// "*" if members differ in it.
func (s *Stacked) sizes() string {
	rank := len(s.first().Shape())
	for _, m := range s.members {
		if m.value != nil {
			rank = min(rank, len(m.value.Shape()))
		}
	}
	texts := make([]string, 0, rank+1)
	for dim := range rank + 1 {
		if dim == s.dim {
			texts = append(texts, fmt.Sprint(len(s.members)))
			continue
		}
		texts = append(texts, s.size(dim))
	}
	return "[" + strings.Join(texts, " ") + "]"
}

// size returns the size of a dim other than the stack dim as text, or "*" if members differ.
func (s *Stacked) size(dim int) string {
	if dim > s.dim {
		dim--
	}
	want := s.first().Shape()[dim]
	for _, m := range s.members {
		if m.value != nil && m.value.Shape()[dim] != want {
			return "*"
		}
	}
	return fmt.Sprint(want)
}

// DType returns the dtype of all members, or 0 if they differ or have none.
func (s *Stacked) DType() tensor.DType {
	if !s.valid() {
		return 0
	}
	d := opsOf(s.first()).spec(s.first()).DType
	for _, m := range s.members {
		if m.value != nil && opsOf(m.value).spec(m.value).DType != d {
			return 0
		}
	}
	return d
}

// Text returns a short description of s, with "*" for dims in which members differ: "stacked
// float32 [2 * 3]".
func (s *Stacked) Text() string {
	if !s.valid() {
		return "stacked <nil>"
	}
	text := "stacked "
	if d := s.DType(); d != 0 {
		text += d.String() + " "
	}
	return text + s.sizes()
}

// missing returns the number of positions without a member.
func (s *Stacked) missing() (n int) {
	for _, m := range s.members {
		if m.value == nil {
			n++
		}
	}
	return n
}

// String returns the shape, with "*" for dims in which members differ, the dtype, the stack dim,
// and the number of positions without a member.
func (s *Stacked) String() string {
	if !s.valid() {
		return s.Text()
	}
	text := fmt.Sprintf("%s along dim %d", s.Text(), s.dim)
	if n := s.missing(); n > 0 {
		text += fmt.Sprintf(", %d missing", n)
	}
	return text
}

// showStacked prints s as an entry.
func showStacked(s *Stacked, _ bool) string {
	text := fmt.Sprintf("Stacked(shape=%s, dim=%d", s.sizes(), s.dim)
	if d := s.DType(); d != 0 {
		text += fmt.Sprintf(", dtype=%v", d)
	} else if elements(s.first()) != nil {
		text += ", dtype=*"
	}
	if n := s.missing(); n > 0 {
		text += fmt.Sprintf(", missing=%d", n)
	}
	return text + ")"
}

// texts returns the texts of all elements if the members are uniform, otherwise a description of
// each member.
func (k *stackedKind) texts(v Value) (texts []string, err error) {
	s, _ := v.(*Stacked)
	if s.Uniform() {
		d, err := s.Dense()
		if err != nil {
			return nil, err
		}
		return opsOf(d).texts(d)
	}
	for _, m := range s.members {
		texts = append(texts, describeMember(m.value))
	}
	return texts, nil
}

// LogValue implements slog.LogValuer: a line with the shape and the dtype.
func (s *Stacked) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON returns the stack dim and the members, null for a position without one. For the zero
// Stacked it returns null. It returns the errors of the members' MarshalJSON.
//
//	{"stacked":0,"members":[{"dtype":"int8","shape":[2],"values":[0,1]}]}
//
// The text does not have the batch shapes that [Members] returns.
func (s *Stacked) MarshalJSON() ([]byte, error) {
	if !s.valid() {
		return []byte("null"), nil
	}
	return stackeds.json(s, nil)
}

// json appends what MarshalJSON returns.
func (k *stackedKind) json(v Value, b []byte) ([]byte, error) {
	s, _ := v.(*Stacked)
	return s.appendJSON(b, "{", len(s.members), func(b []byte, v Value) ([]byte, error) { return opsOf(v).json(v, b) })
}

// appendJSON appends an object that begins with open and has the first n members.
func (s *Stacked) appendJSON(b []byte, open string, n int, value func(b []byte, v Value) ([]byte, error)) (_ []byte, err error) {
	if err := checkDims(s.shape); err != nil {
		return nil, err
	}
	b = fmt.Appendf(b, `%s"stacked":%d,"members":[`, open, s.dim)
	for i, m := range s.members[:n] {
		if i > 0 {
			b = append(b, ',')
		}
		if m.value == nil {
			b = append(b, "null"...)
		} else if b, err = value(b, m.value); err != nil {
			return nil, fmt.Errorf("member %d: %w", i, err)
		}
	}
	return append(b, "]}"...), nil
}

// preview returns s as JSON of bounded size.
func (s *Stacked) preview(n int) ([]byte, error) {
	open := fmt.Sprintf(`%s"count":%d,`, previewOpen(n), len(s.members))
	return s.appendJSON(nil, open, min(n, len(s.members)), func(b []byte, v Value) ([]byte, error) {
		part, err := opsOf(v).preview(v, n)
		return append(b, part...), err
	})
}

// UnmarshalJSON sets s, which must be the zero Stacked, to the members in JSON from MarshalJSON.
// null leaves s as it is.
//
// It returns tensor.ErrJSON, with the byte offset or the number of the member, if the JSON does not
// encode a Stacked, has an unknown field, or is a preview; [ErrKind] if s is not the zero Stacked;
// and shapeops.ErrShape if the shapes of the members cannot be stacked. On an error nothing has
// changed.
func (s *Stacked) UnmarshalJSON(text []byte) error {
	read, err := readLeaf[*Stacked](text, "stacked members")
	if err != nil || read == nil {
		return err
	}
	if s == nil || s.valid() {
		return fmt.Errorf("%w: want a pointer to the zero Stacked", ErrKind)
	}
	*s = *read
	return nil
}

// readMembers reads the members of a value that is nested depth deep, null for a position without
// one.
func readMembers(s *jsonscan.Scanner, depth int) ([]Value, error) {
	if depth > MaxDepth {
		return nil, errDepth
	}
	members := []Value{}
	err := s.Array(func(i int) error {
		if s.Next() == 'n' {
			members = append(members, nil)
			return s.Null()
		}
		v, err := readValueNode(s, depth+1)
		if err != nil {
			return fmt.Errorf("member %d: %w", i, err)
		}
		if _, ok := v.(*TensorDict); ok {
			return fmt.Errorf("member %d: %w: got %s, want a leaf", i, tensor.ErrJSON, describe(v))
		}
		members = append(members, v)
		return nil
	})
	return members, err
}

// stacked returns n as a Stacked.
func (n *jsonNode) stacked() (Value, error) {
	if err := n.Want("members"); err != nil {
		return nil, err
	}
	members, some := make([]stackMember, len(n.members)), false
	for i, v := range n.members {
		members[i], some = stackMember{v, n.dim}, some || v != nil
	}
	if !some || n.dim < 0 {
		return nil, fmt.Errorf("%w: got stack dim %d and %d members, want a dim of 0 or more and a member that is not null", tensor.ErrJSON, n.dim, len(members))
	}
	s, err := newStacked(n.dim, members)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tensor.ErrJSON, err)
	}
	return s, nil
}
