package vfstest

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// An entry is a name in a directory, with its link and node if it exists.
type entry struct {
	path []string
	dir  *node
	name string
	link *link
	node *node
}

// put sets the current link of the name.
func (e entry) put(l *link) { e.dir.put(e.name, l) }

// split returns the names on the way from the root to path.
func split(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	path = filepath.ToSlash(filepath.Clean(string(filepath.Separator) + path))
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// nested reports whether one of two different paths is inside the other.
func nested(a, b []string) bool {
	n := min(len(a), len(b))
	return len(a) != len(b) && slices.Equal(a[:n], b[:n])
}

// base returns the last name of path, or "." for the root.
func base(path string) string {
	names := split(path)
	if len(names) == 0 {
		return "."
	}
	return names[len(names)-1]
}

// find returns the node at path.
func (d *Disk) find(path string) (*node, error) { return d.walk(split(path)) }

// walk returns the node at the end of names.
func (d *Disk) walk(names []string) (*node, error) {
	n := &d.root
	for _, name := range names {
		if n.isFile {
			return nil, syscall.ENOTDIR
		}
		l, ok := n.names[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		n = l.node
	}
	return n, nil
}

// place returns the entry for path, whose directory must exist. The root has no entry.
func (d *Disk) place(path string) (entry, error) {
	names := split(path)
	if len(names) == 0 {
		return entry{}, fs.ErrInvalid
	}
	last := len(names) - 1
	dir, err := d.walk(names[:last])
	if err != nil {
		return entry{}, err
	}
	if dir.isFile {
		return entry{}, syscall.ENOTDIR
	}
	e := entry{path: names, dir: dir, name: names[last]}
	if l, ok := dir.names[e.name]; ok {
		e.link, e.node = l, l.node
	}
	return e, nil
}

// entry returns the entry for path, which must exist.
func (d *Disk) entry(path string) (entry, error) {
	e, err := d.place(path)
	if err == nil && e.node == nil {
		err = fs.ErrNotExist
	}
	return e, err
}

// vacant returns the entry for path, which must not exist.
func (d *Disk) vacant(path string) (entry, error) {
	if _, err := d.find(path); err == nil {
		return entry{}, fs.ErrExist
	}
	return d.place(path)
}

// add adds n at path, which must not exist.
func (d *Disk) add(path string, n *node) error {
	e, err := d.vacant(path)
	if err != nil {
		return err
	}
	e.put(&link{node: n})
	return nil
}
