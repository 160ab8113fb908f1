package tdc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/fileformat"
)

// check checks that l, with pad bytes of padding, lies in size bytes of data.
func (l *Leaf) check(pad, size int) (err error) {
	if l.Size, err = ByteSize(l.DType, l.Shape); err != nil {
		return err
	}
	switch {
	case l.Start < 0 || l.stop < l.Start || l.stop > size:
		return fileformat.Corrupt("got bytes %d to %d, want a part of the data, bytes 0 to %d", l.Start, l.stop, size)
	case pad < 0 || pad >= align || l.stop-l.Start-pad != l.Size:
		return fileformat.Corrupt("got bytes %d to %d, %d of them padding, want %d bytes for %v %v", l.Start, l.stop, pad, l.Size, l.DType, l.Shape)
	case l.Start%l.DType.Size() != 0:
		return fileformat.Corrupt("it begins at byte %d, want a multiple of %d for %v", l.Start, l.DType.Size(), l.DType)
	}
	return nil
}

// check checks a node after all its fields were read.
func (p *parser) check(d *dict) error {
	if err := d.checkNames(); err != nil {
		return err
	}
	if !slices.IsSortedFunc(d.leaves, func(a, b *Leaf) int { return a.Start - b.Start }) {
		return fileformat.Corrupt("its leaves are not listed in the order of their data")
	}
	switch d.class {
	case dictClass:
		return cmp.Or(d.checkUnbatched(), d.checkJagged())
	case stackClass, lazyClass:
		return d.checkMembers()
	}
	return fileformat.Unsupported("a %s, want a dictionary or data", quote(d.class))
}

// checkUnbatched checks that each unbatched tensor is a leaf.
func (d *dict) checkUnbatched() error {
	if len(d.unbatched) == 0 {
		return nil
	}
	left := maps.Clone(d.unbatched)
	for _, l := range d.leaves {
		delete(left, l.name)
	}
	for name := range left {
		return fileformat.Corrupt("unbatched: there is no leaf %s", quote(name))
	}
	return nil
}

// checkNames checks that each name is used once.
func (d *dict) checkNames() error {
	seen := map[string]bool{}
	twice := func(name string) error {
		if seen[name] {
			return fileformat.Corrupt("duplicate key %s", quote(name))
		}
		seen[name] = true
		return nil
	}
	for _, l := range d.leaves {
		if err := twice(l.name); err != nil {
			return err
		}
		if name, ok := strings.CutPrefix(l.name, jaggedOffsets); ok {
			if err := twice(name); err != nil {
				return err
			}
		}
	}
	for _, name := range d.members() {
		if err := twice(name); err != nil {
			return err
		}
	}
	return nil
}

// checkJagged checks that the leaves of a jagged tensor follow each other: values, then lengths,
// which are optional, then offsets.
func (d *dict) checkJagged() error {
	for i := 0; i < len(d.leaves); i++ {
		l := d.leaves[i]
		name, isValues := l.values()
		if !jaggedPart(l.name) {
			continue
		}
		if i+1 < len(d.leaves) && d.leaves[i+1].name == jaggedLengths+name {
			i++
		}
		if i++; !isValues || i >= len(d.leaves) || d.leaves[i].name != jaggedOffsets+name {
			return fileformat.In(string(l.Key), fileformat.Corrupt("got the leaf %s, want the values and then the offsets of a jagged tensor", quote(l.name)))
		}
		if dim := d.leaves[i].dim; dim > jaggedDim {
			return fileformat.In(string(l.Key), fileformat.Unsupported("a jagged tensor whose dim %d is ragged, want dim %d", dim, jaggedDim))
		}
	}
	return nil
}

// values returns the name of the jagged tensor that l has the values of. It reports false for other
// leaves.
func (l *Leaf) values() (string, bool) {
	for _, prefix := range []string{jaggedOld, jaggedValues} {
		if name, ok := strings.CutPrefix(l.name, prefix); ok {
			return name, true
		}
	}
	return "", false
}

// checkMembers checks that the members of a stack are numbered from 0.
func (d *dict) checkMembers() error {
	n := len(d.data) + len(d.dicts)
	switch {
	case d.stackDim < 0:
		return fileformat.Corrupt("no field \"stack_dim\"")
	case len(d.leaves) > 0:
		return fileformat.Corrupt("a stack has the leaf %s, want members only", quote(d.leaves[0].name))
	case n == 0:
		return fileformat.Corrupt("a stack without members")
	case d.class == lazyClass && len(d.data) > 0:
		return fileformat.Corrupt("a lazy stack has the data %s, want dictionaries", quote(d.data[0].name))
	}
	for _, name := range d.members() {
		if i, err := strconv.Atoi(name); err != nil || i < 0 || i >= n || strconv.Itoa(i) != name {
			return fileformat.Corrupt("got a member named %s, want the numbers 0 to %d", quote(name), n-1)
		}
	}
	return nil
}

// members returns the names of the data and the nodes in d. For a stack these are its members.
func (d *dict) members() (names []string) {
	for _, x := range d.data {
		names = append(names, x.name)
	}
	for _, inner := range d.dicts {
		names = append(names, inner.name)
	}
	return names
}
