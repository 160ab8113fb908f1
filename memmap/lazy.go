package memmap

import (
	"cmp"
	"path"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
)

// lazy reads a lazy stack as a dictionary of stacked leaves. It returns nil if the members are
// damaged.
func (r *reader) lazy(n tree, m *meta, depth int) (tdict.Value, error) {
	found := r.damage.number()
	members, err := r.members(n, m.dim, depth)
	if err != nil || r.damage.number() > found {
		return nil, err
	}
	switch {
	case len(members) == 0:
		err = corrupt("a lazy stack without members")
	case len(members) < m.native.members:
		err = corrupt("a lazy stack of %d members, want at least %d: member %d is missing", len(members), m.native.members, len(members))
	}
	var td *tdict.TensorDict
	if err == nil {
		td, err = lazyStack(m.dim, members)
	}
	if err == nil {
		td, err = m.native.dims.Cut(td)
	}
	if err != nil {
		return nil, r.fail(n, metaName, err)
	}
	if dims := len(td.Shape()); len(m.native.names) > dims { // a member added later has fewer common dims
		m.native.names = m.native.names[:dims]
	}
	return td, r.names(n, m, td)
}

// lazyStack returns the lazy stack of members, at least one, or an error if it could not be saved.
func lazyStack(dim int, members []*tdict.TensorDict) (*tdict.TensorDict, error) {
	if dim < 0 || dim > len(members[0].Shape()) {
		return nil, corrupt("want a stack_dim of 0 to %d", len(members[0].Shape()))
	}
	if err := checkClasses(members); err != nil {
		return nil, err
	}
	td, err := tdict.LazyStack(members, dim)
	if err == nil {
		err = checkShapes(td)
	}
	if err != nil {
		return nil, unsupported("a lazy stack: %w", err)
	}
	return td, nil
}

// members opens all members.
func (r *reader) members(n tree, dim, depth int) (members []*tdict.TensorDict, err error) {
	was := r.row
	defer func() { r.row = was }()
	for {
		if was == everyRow {
			r.row = someRows
			if depth == 0 && dim == 0 {
				r.row = rowNumber(len(members))
			}
		}
		inner, err := n.member(len(members))
		if err != nil {
			return nil, err
		}
		if inner == nil {
			more, err := r.afterGap(n, len(members))
			if err != nil || !more {
				return members, err
			}
			continue
		}
		td, err := r.member(n, inner, depth)
		if err = r.damaged(err); err != nil {
			return nil, err
		}
		if td != nil { // nil if it is damaged
			members = append(members, td)
		} else {
			members = append(members, tdict.New())
		}
	}
}

// member opens the member in the node inner.
func (r *reader) member(n, inner tree, depth int) (*tdict.TensorDict, error) {
	v, err := r.node(inner, nil, nil, depth+1)
	if failed := inner.close(); err == nil {
		err = r.fail(inner, "", failed)
	}
	if err != nil {
		return nil, err
	}
	if r.entries++; r.entries > r.maxEntries() {
		return nil, r.fail(n, "", tooMany(r.maxEntries()))
	}
	td, ok := v.(*tdict.TensorDict)
	if v != nil && !ok {
		return nil, r.fail(inner, metaName, unsupported("a lazy stack whose member is not a dictionary"))
	}
	return td, nil
}

// afterGap reports whether the member number exists by now, because another process has appended
// it. It returns ErrCorrupt if it does not exist, and a member of a higher number does.
func (r *reader) afterGap(n tree, number int) (more bool, err error) {
	names, err := n.dirs()
	if err != nil {
		return false, err
	}
	last := -1
	for _, name := range names {
		if i, ok := memberNumber(name); ok {
			last = max(last, i)
		}
	}
	if last < number {
		return false, nil
	}
	inner, err := n.member(number)
	if err != nil || inner == nil {
		return false, cmp.Or(err, r.fail(n, strconv.Itoa(number), corrupt("missing, though there is a member %d", last)))
	}
	return true, r.fail(inner, "", inner.close())
}

// memberNumber returns the number of the member in a directory, or false if name is not a number.
func memberNumber(name string) (int, bool) {
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == name
}

// checkClasses returns an error if the members have different classes, since a stack has one.
func checkClasses(members []*tdict.TensorDict) error {
	for i, td := range members {
		if td.Class() != members[0].Class() {
			return unsupported("a lazy stack of several classes: member %d is a %s, member 0 a %s", i, quote(entryClass(td)), quote(entryClass(members[0])))
		}
	}
	return nil
}

// checkShapes returns an error if a shape in td has more dims than can be saved.
func checkShapes(td *tdict.TensorDict) error {
	if err := checkShape(td.Shape()); err != nil {
		return err
	}
	for _, v := range td.Leaves() {
		err := checkShape(v.Shape())
		if t, ok := v.(*ragged.Tensor); ok {
			err = checkRank(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lazy plans to save td, a lazy stack, as the node n, with a node for each member.
func (s *saver) lazy(n *savedNode, td *tdict.TensorDict, depth int) error {
	dim, members, err := tdict.Members(td)
	if err != nil {
		return s.fail(n.at, unsupported("a dictionary of stacked leaves: %w: call Dense first", err))
	}
	if err := checkShapes(td); err != nil {
		return s.fail(n.at, err)
	}
	s.nodes = append(s.nodes, n)
	n.meta = &meta{class: lazyClass, dim: dim}
	n.meta.native.names, n.meta.native.members = dimNames(td), len(members)
	if n.meta.native.dims, err = tdc.DimsOf(td, dim, members); err != nil {
		return s.fail(n.at, err)
	}
	if n.meta.native.kinds, err = kindsOf(td); err != nil {
		return s.fail(n.at, err)
	}
	for i, m := range members {
		if err := m.SetClass(""); err != nil { // the stack has the class
			return s.fail(n.at, err)
		}
		if err := unnamed(m, td); err != nil {
			return s.fail(n.at, err)
		}
		inner := &savedNode{at: path.Join(n.at, strconv.Itoa(i))}
		if err := s.dict(inner, m, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// unnamed removes the names of dims from a member of td, since td has them.
func unnamed(m, td *tdict.TensorDict) error {
	if dimNames(td) == nil {
		return nil
	}
	return m.SetNames(make([]string, len(m.Shape()))...)
}
