package tdict

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shapeops"
)

// Names returns the names of the batch dims, "" for a dim without one. Operations carry names to
// their results. A dim that is moved, cut, picked from or repeated keeps its name. A dim that is
// new, or made of several, has none. Stack and LazyStack keep the names that all dictionaries
// have, Cat and PadSequence the names of the first one. A destination that the caller owns keeps
// its names. (Python: names, None for no name.)
//
// The leading dims of a nested dictionary are td's batch dims. If a batch dim of td has a name and
// a dictionary has other names for td's batch dims, or none, [TensorDict.Set] stores a copy of the
// dictionary with td's names. If no batch dim of td has a name, Set keeps the names of the
// dictionary. SetNames also names these dims in the dictionaries nested in td. A locked dictionary
// keeps its names. [TensorDict.Equal] ignores them.
func (td *TensorDict) Names() []string {
	out := make([]string, len(td.batch))
	copy(out, td.names)
	return out
}

// DimOf returns the batch dim with the given name. It returns [ErrName], with the names that td
// has, if no dim has it.
func (td *TensorDict) DimOf(name string) (int, error) {
	i, err := td.dimOf(name)
	return i, failed("dim of", err)
}

func (td *TensorDict) dimOf(name string) (int, error) {
	if td.names == nil {
		return 0, fmt.Errorf("%w: got %q, and no dim has a name: call SetNames first", ErrName, name)
	}
	if i := slices.Index(td.names, name); i >= 0 && name != "" {
		return i, nil
	}
	return 0, fmt.Errorf("%w: got %q, want one of %q", ErrName, name, td.names)
}

// SetNames names the batch dims of td, and the same dims of the dictionaries in td; "" removes a
// name. It returns [ErrName] unless there is a name for each dim and all are distinct and UTF-8,
// and [ErrLocked] if td is locked or a dictionary in it is locked under other names. On an error
// nothing has changed.
func (td *TensorDict) SetNames(names ...string) error {
	if len(names) != len(td.batch) {
		return failed("set names", fmt.Errorf("%w: got %q, want one for each dim of %v", ErrName, names, td.batch))
	}
	return td.putAllNames("set names", names)
}

// RefineNames names batch dims that have no name yet. If a name is "", the dim stays as it is.
// RefineNames returns [ErrName] if a dim already has a different name, and the errors of
// [TensorDict.SetNames].
func (td *TensorDict) RefineNames(names ...string) error {
	refined := td.Names()
	for i, name := range names {
		if i < len(refined) && name != "" {
			if refined[i] != "" && refined[i] != name {
				return failed("refine names", fmt.Errorf("%w: got %q for dim %d, which has the name %q: call RenameDims", ErrName, name, i, refined[i]))
			}
			refined[i] = name
		}
	}
	if len(names) != len(refined) {
		return failed("refine names", fmt.Errorf("%w: got %q, want one for each dim of %v", ErrName, names, td.batch))
	}
	return td.putAllNames("refine names", refined)
}

// RenameDims renames batch dims: names[old] is the new name, "" for none. All change at once, so
// names can be swapped. RenameDims returns [ErrName] if no dim has an old name or two dims would
// have the same name, and [ErrLocked] as SetNames does.
func (td *TensorDict) RenameDims(names map[string]string) error {
	renamed := td.Names()
	for _, old := range slices.Sorted(maps.Keys(names)) {
		i, err := td.dimOf(old)
		if err != nil {
			return failed("rename dims", err)
		}
		renamed[i] = names[old]
	}
	return td.putAllNames("rename dims", renamed)
}

// putAllNames names the dims of td and the same dims of the dictionaries below it.
func (td *TensorDict) putAllNames(op string, names []string) error {
	err := td.checkUnlocked()
	if err == nil {
		err = td.checkRenamed(names, map[*TensorDict]bool{})
	}
	if err != nil {
		return failed(op, err)
	}
	td.putNames(names, map[*TensorDict]bool{})
	return nil
}

// checkRenamed returns ErrName if td, or a dictionary below it, would have two dims of one name
// after its first dims get these names. Dictionaries in seen are skipped.
func (td *TensorDict) checkRenamed(names []string, seen map[*TensorDict]bool) error {
	if err := checkDistinct(td.withNames(names)); err != nil {
		return err
	}
	for name, v := range td.entries.all() {
		d, ok := v.(*TensorDict)
		if !ok || seen[d] {
			continue
		}
		seen[d] = true
		err := d.checkRenamed(names, seen)
		if err == nil && !slices.Equal(d.Names()[:len(names)], names) {
			err = d.checkUnlocked()
		}
		if err != nil {
			return within("names", name, err)
		}
	}
	return nil
}

func (td *TensorDict) putNames(names []string, seen map[*TensorDict]bool) {
	td.names = tidy(td.withNames(names))
	for _, v := range td.entries.all() {
		if d, ok := v.(*TensorDict); ok && !seen[d] {
			seen[d] = true
			d.putNames(names, seen)
		}
	}
}

// withNames returns td's names with names in the place of the first.
func (td *TensorDict) withNames(names []string) []string {
	return append(slices.Clone(names), td.Names()[len(names):]...)
}

// CheckNames returns ErrName, with the key, if a dictionary in td cannot take td's names for its
// first dims, because two of its dims would have the same name. [TensorDict.Set] prevents this, but
// naming the inner dictionary later can cause it. Readers of saved dictionaries do not accept it.
func (td dictOps) CheckNames() error {
	return td.checkNested(td.Names())
}

// checkNested is CheckNames for a dictionary whose dims get these names.
func (td *TensorDict) checkNested(names []string) error {
	if err := checkDistinct(names); err != nil {
		return err
	}
	for name, v := range td.entries.all() {
		d, ok := v.(*TensorDict)
		if !ok {
			continue
		}
		inner := d.Names()
		if tidy(names) != nil {
			inner = d.withNames(names)
		}
		if err := d.checkNested(inner); err != nil {
			return within("names", name, err)
		}
	}
	return nil
}

// tidy returns names, or nil if all are "".
func tidy(names []string) []string {
	if !slices.ContainsFunc(names, func(name string) bool { return name != "" }) {
		return nil
	}
	return names
}

// checkDistinct returns ErrName if two dims have the same name or a name is not UTF-8.
func checkDistinct(names []string) error {
	for i, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("%w: got %q, want UTF-8", ErrName, name)
		}
		if name != "" && slices.Contains(names[:i], name) {
			return fmt.Errorf("%w: got %q, want each name once", ErrName, names)
		}
	}
	return nil
}

// inheritNames returns v as an entry of td: a copy with td's names if v is a dictionary with other
// names for td's batch dims, otherwise v itself.
func (td *TensorDict) inheritNames(v Value) (Value, error) {
	d, ok := v.(*TensorDict)
	if !ok || td.names == nil || slices.Equal(d.Names()[:len(td.batch)], td.Names()) {
		return v, nil
	}
	d = d.Copy()
	if err := d.checkRenamed(td.names, map[*TensorDict]bool{}); err != nil {
		return nil, err
	}
	d.putNames(td.names, map[*TensorDict]bool{})
	return d, nil
}

// tracedNames returns names for a result whose first to dims come from td's first from dims, as
// p.Origin says. The remaining dims keep their names.
func (td *TensorDict) tracedNames(p interface{ Origin(dim int) int }, from, to int) []string {
	if td.names == nil {
		return nil
	}
	out := make([]string, to, to+len(td.names))
	for dim := range out {
		if origin := p.Origin(dim); origin >= 0 {
			out[dim] = td.names[origin]
		}
	}
	return tidy(append(out, td.names[from:]...))
}

// joinedNames returns the names of the batch dims of joined dictionaries, of which td is the first.
func (td *TensorDict) joinedNames(j *plan.Join, xs []*TensorDict) []string {
	if td.names == nil || !j.New() {
		return td.names
	}
	names := td.names
	if !j.Padded() {
		names = td.namesShared(names, xs)
	}
	return slices.Insert(slices.Clone(names), j.Dim(), "")
}

// namesShared returns names, which td has for its first dims, without the names that a dictionary
// in xs does not have for the same dim. Nil dictionaries are skipped.
func (td *TensorDict) namesShared(names []string, xs []*TensorDict) []string {
	for dim, name := range names {
		for _, x := range xs {
			if name == "" || x == nil || x == td || len(x.names) > dim && x.names[dim] == name {
				continue
			}
			names = slices.Clone(names)
			names[dim], name = "", ""
		}
	}
	return names
}

// prefixNames returns td's names for the dims of another batch shape. Dims that td does not have
// get no name.
func (td *TensorDict) prefixNames(batch shapeops.Shape) []string {
	if td.names == nil {
		return nil
	}
	out := make([]string, len(batch))
	copy(out, td.names)
	return tidy(out)
}
