package tdc

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A parser reads the JSON of a form.
type parser struct {
	*jsonscan.Scanner
	form    *Form
	entries int
}

// dict reads a node.
func (p *parser) dict(key nestedkey.Key, name string, depth int) (*dict, error) {
	if depth > tdict.MaxDepth {
		return nil, errDepth
	}
	d := &dict{key: key, name: name, stackDim: -1}
	missing := []field{fieldClass, fieldData, fieldLeaves, fieldMeta}
	err := p.once(func(name string) error {
		missing = slices.DeleteFunc(missing, func(f field) bool { return string(f) == name })
		return p.field(d, name, depth)
	})
	if err == nil && len(missing) > 0 {
		err = fileformat.Corrupt("no field %q", missing[0])
	}
	if err == nil {
		err = p.check(d)
	}
	if err != nil {
		return nil, fileformat.In(string(key), asCorrupt(err))
	}
	d.settle()
	return d, nil
}

// once reads an object and calls fn with the name of each field, which must be there once.
func (p *parser) once(fn func(name string) error) error {
	seen := map[string]bool{}
	return p.Object(func(b []byte) error {
		name := string(b)
		if seen[name] {
			return fileformat.Corrupt("duplicate field %s", quote(name))
		}
		seen[name] = true
		return fn(name)
	})
}

// field reads a field of a node.
func (p *parser) field(d *dict, name string, depth int) (err error) {
	switch field(name) {
	case fieldClass:
		var text []byte
		text, err = p.Text()
		d.class = string(text)
	case fieldData:
		err = p.Object(func(name []byte) error { return p.datum(d, string(name)) })
	case fieldLeaves:
		err = p.Object(func(name []byte) error { return p.leaf(d, string(name)) })
	case fieldMeta:
		err = p.once(func(name string) error { return p.meta(d, name) })
	case fieldSize:
		err = p.size(d, depth == 0)
	default:
		var inner *dict
		if inner, err = p.dict(keyIn(d, name), name, depth+1); err == nil {
			d.dicts = append(d.dicts, inner)
			err = p.count()
		}
		return err
	}
	return err
}

// keyIn returns the key of an entry of d.
func keyIn(d *dict, name string) nestedkey.Key {
	if d.key == "" {
		return nestedkey.Of(name)
	}
	return nestedkey.Join(d.key, nestedkey.Of(name))
}

// count counts one more entry.
func (p *parser) count() error {
	if p.entries++; p.entries > p.form.limits.Entries {
		return tooMany(p.form.limits.Entries)
	}
	return nil
}

// datum reads a value: itself, its batch shape, and since 0.7 its device.
func (p *parser) datum(d *dict, name string) error {
	x := datum{name: name}
	n := 0
	err := p.Array(func(i int) (err error) {
		switch n = i + 1; i {
		case 0:
			x.value, err = datajson.On(p.Scanner).Value()
		case 1:
			x.batch, err = p.shape()
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil && (n < 2 || n > 3) {
		err = fileformat.Corrupt("got %d facts of data, want 3", n)
	}
	if err != nil {
		return fileformat.In(string(keyIn(d, name)), dataError(err))
	}
	d.data = append(d.data, x)
	return p.count()
}

// dataError returns an error of reading a value as one of ErrCorrupt, or of ErrUnsupported if it is
// something that Python has and Data has not.
func dataError(err error) error {
	if e := asCorrupt(err); e == err {
		return err
	}
	return fileformat.Unsupported("data: %w", err)
}

// shape reads a shape, of which it looks at no more than there can be dims.
func (p *parser) shape() (shapeops.Shape, error) {
	s := make(shapeops.Shape, 0, 4)
	err := p.Array(func(i int) error {
		if i == maxDims {
			return fmt.Errorf("%w: more than %d dims", shapeops.ErrShape, maxDims)
		}
		n, err := p.Int()
		s = append(s, int(n))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, s.Check()
}

// leaf reads a leaf: dtype, shape, start, stop, padding, and of some the ragged dim.
func (p *parser) leaf(d *dict, name string) error {
	l := &Leaf{name: name, Key: keyIn(d, bareName(name)), Whole: true}
	pad, n := 0, 0
	number := func(to *int) error {
		v, err := p.Int()
		*to = int(v)
		return err
	}
	err := p.Array(func(i int) (err error) {
		switch n = i + 1; i {
		case 0:
			l.DType, err = p.dtype()
		case 1:
			l.Shape, err = p.shape()
		case 2:
			err = number(&l.Start)
		case 3:
			err = number(&l.stop)
		case 4:
			err = number(&pad)
		case 5:
			err = number(&l.dim)
		default:
			err = p.Skip()
		}
		return err
	})
	if err == nil && (n < 5 || n > 6) {
		err = fileformat.Corrupt("got %d facts of a leaf, want 5 or 6", n)
	}
	if err == nil {
		err = l.check(pad, p.form.size)
	}
	if err != nil {
		return fileformat.In(string(l.Key), asCorrupt(err))
	}
	d.leaves = append(d.leaves, l)
	return p.count()
}

// bareName returns the name of a leaf without the beginning that says which part of a jagged tensor
// it is.
func bareName(name string) string {
	for _, prefix := range jaggedParts {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// isPart reports whether the name of a leaf is that of a part of a jagged tensor.
func isPart(name string) bool { return bareName(name) != name }

// check checks the place of a leaf in size bytes of data.
func (l *Leaf) check(pad, size int) (err error) {
	if l.Size, err = byteSize(l.DType, l.Shape); err != nil {
		return err
	}
	switch {
	case l.Start < 0 || l.stop < l.Start || l.stop > size:
		return fileformat.Corrupt("got bytes %d to %d, want some of the %d bytes of data", l.Start, l.stop, size)
	case pad < 0 || pad >= align || l.stop-l.Start-pad != l.Size:
		return fileformat.Corrupt("got bytes %d to %d, %d of them padding, want %d bytes for %v %v", l.Start, l.stop, pad, l.Size, l.DType, l.Shape)
	case l.Start%l.DType.Size() != 0:
		return fileformat.Corrupt("it begins at byte %d, want a multiple of %d for %v", l.Start, l.DType.Size(), l.DType)
	}
	return nil
}

// meta reads a field of what a node says of its value.
func (p *parser) meta(d *dict, name string) (err error) {
	switch name {
	case "batch_size":
		d.batch, err = p.shape()
	case "names":
		d.names, err = p.names()
	case "is_locked":
		d.locked, err = p.Bool()
	case "stack_dim":
		var n int64
		n, err = p.Int()
		if d.stackDim = int(n); err == nil && (n < 0 || n > maxDims) {
			err = fileformat.Corrupt("got the stack_dim %d, want 0 to %d", n, maxDims)
		}
	case "stack_dim_name":
		d.names, err = p.dimName(nil)
	default:
		err = p.Skip()
	}
	return err
}

// names reads names of dims.
func (p *parser) names() (names []string, err error) {
	if p.Next() == 'n' {
		return nil, p.Null()
	}
	err = p.Array(func(i int) (err error) {
		if i == maxDims {
			return fmt.Errorf("%w: more than %d names of dims", shapeops.ErrShape, maxDims)
		}
		names, err = p.dimName(names)
		return err
	})
	return names, err
}

// dimName reads the name of a dim: a text, or null for none.
func (p *parser) dimName(names []string) ([]string, error) {
	if p.Next() == 'n' {
		return append(names, ""), p.Null()
	}
	text, err := p.Text()
	return append(names, string(text)), err
}

// size reads the field that Python passes over: {"go": facts}, or anything of another writer. whole
// says that d is the outermost node.
func (p *parser) size(d *dict, whole bool) error {
	if p.Next() != '{' {
		return p.Skip()
	}
	return p.once(func(name string) error {
		if name != "go" {
			return p.Skip()
		}
		return p.once(func(name string) error {
			if whole {
				return p.wholeFact(d, name)
			}
			return p.fact(d, name)
		})
	})
}

// wholeFact reads a native fact of the outermost node, which can be one about the whole form.
func (p *parser) wholeFact(d *dict, name string) (err error) {
	switch name {
	case "schema":
		p.form.Facts.Schema, err = p.Raw()
	case "crc32c":
		p.form.Facts.Sums, err = p.sums()
	default:
		err = p.fact(d, name)
	}
	return err
}

// fact reads a native fact about a node. One of a later version is passed over.
func (p *parser) fact(d *dict, name string) (err error) {
	switch name {
	case "class":
		var text []byte
		text, err = p.Text()
		d.goClass = string(text)
	case "unbatched":
		d.alike = map[string]shapeops.Shape{}
		err = p.once(func(name string) (err error) {
			d.alike[name], err = p.shape()
			return err
		})
	case "ragged":
		err = p.ragged(d)
	default:
		err = p.Skip()
	}
	return err
}

// ragged reads the batch shape and the depth of ragged rows.
func (p *parser) ragged(d *dict) error {
	return p.Array(func(i int) (err error) {
		switch i {
		case 0:
			d.rowsBatch, err = p.shape()
		case 1:
			var n int64
			n, err = p.Int()
			if d.rowsDepth = int(n); err == nil && (n < 1 || n > maxDims) {
				err = fileformat.Corrupt("got ragged rows of %d levels, want 1 to %d", n, maxDims)
			}
		default:
			err = p.Skip()
		}
		return err
	})
}

// sums reads checksums, of which there must be one for each block.
func (p *parser) sums() ([]uint32, error) {
	text, err := p.Text()
	if err != nil {
		return nil, err
	}
	if want := (p.form.size + BlockSize - 1) / BlockSize * 8; len(text) != want {
		return nil, fileformat.Corrupt("got %d digits of sums, want %d", len(text), want)
	}
	b := make([]byte, len(text)/2)
	if _, err := hex.Decode(b, text); err != nil {
		return nil, fileformat.Corrupt("sums: %w", err)
	}
	sums := make([]uint32, len(b)/4)
	for i := range sums {
		sums[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return sums, nil
}

// check checks a node whose fields were all read.
func (p *parser) check(d *dict) error {
	if err := d.checkNames(); err != nil {
		return err
	}
	if !slices.IsSortedFunc(d.leaves, func(a, b *Leaf) int { return a.Start - b.Start }) {
		return fileformat.Corrupt("the places of its leaves go backwards")
	}
	switch d.class {
	case dictClass:
		return cmp.Or(d.checkAlike(), d.checkRows(), d.checkJagged())
	case stackClass, lazyClass:
		return d.checkMembers()
	}
	return fileformat.Unsupported("a %s, want a dictionary or data", quote(d.class))
}

// checkAlike checks that each unbatched tensor is a leaf.
func (d *dict) checkAlike() error {
	if len(d.alike) == 0 {
		return nil
	}
	left := maps.Clone(d.alike)
	for _, l := range d.leaves {
		delete(left, l.name)
	}
	for name := range left {
		return fileformat.Corrupt("unbatched: there is no leaf %s", quote(name))
	}
	return nil
}

// checkRows checks that ragged rows have their parts and nothing else.
func (d *dict) checkRows() error {
	if d.rowsDepth == 0 {
		return nil
	}
	for level := 0; level <= d.rowsDepth; level++ {
		name := offsetsName(level)
		if level == 0 {
			name = valuesName
		}
		if d.find(name) == nil {
			return fileformat.Corrupt("ragged rows without a leaf %q", name)
		}
	}
	if got, want := len(d.leaves)+len(d.data)+len(d.dicts), d.rowsDepth+1; got != want {
		return fileformat.Corrupt("ragged rows of %d levels: got %d entries, want %d: values and offsets", d.rowsDepth, got, want)
	}
	return nil
}

// checkNames checks that each name stands for one value.
func (d *dict) checkNames() error {
	seen := make(map[string]bool, len(d.leaves)+len(d.data)+len(d.dicts))
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
	for _, x := range d.data {
		if err := twice(x.name); err != nil {
			return err
		}
	}
	for _, inner := range d.dicts {
		if err := twice(inner.name); err != nil {
			return err
		}
	}
	return nil
}

// checkJagged checks that leaves that make jagged tensors stand together: values, lengths or none,
// offsets.
func (d *dict) checkJagged() error {
	for i := 0; i < len(d.leaves); i++ {
		l := d.leaves[i]
		name, isValues := l.values()
		if !isPart(l.name) {
			continue
		}
		if i+1 < len(d.leaves) && d.leaves[i+1].name == jaggedLengths+name {
			i++
		}
		if i++; !isValues || i >= len(d.leaves) || d.leaves[i].name != jaggedOffsets+name {
			return fileformat.In(string(l.Key), fileformat.Corrupt("got the leaf %s, want values and offsets of a jagged tensor, one after the other", quote(l.name)))
		}
		if dim := d.leaves[i].dim; dim > jaggedDim {
			return fileformat.In(string(l.Key), fileformat.Unsupported("a jagged tensor whose dim %d is ragged, want dim %d", dim, jaggedDim))
		}
	}
	return nil
}

// values returns the name of the jagged tensor whose values l has.
func (l *Leaf) values() (string, bool) {
	for _, prefix := range []string{jaggedOld, jaggedValues} {
		if name, ok := strings.CutPrefix(l.name, prefix); ok {
			return name, true
		}
	}
	return "", false
}

// checkMembers checks that the entries of a stack are numbered from 0.
func (d *dict) checkMembers() error {
	n := len(d.data) + len(d.dicts)
	switch {
	case d.stackDim < 0:
		return fileformat.Corrupt("no stack_dim")
	case len(d.leaves) > 0:
		return fileformat.Corrupt("a stack has the leaf %s, want members only", quote(d.leaves[0].name))
	case n == 0:
		return fileformat.Corrupt("a stack without members")
	case d.class == lazyClass && len(d.data) > 0:
		return fileformat.Corrupt("a lazy stack has the data %s, want dictionaries", quote(d.data[0].name))
	}
	for _, name := range d.members() {
		if i, err := strconv.Atoi(name); err != nil || i < 0 || i >= n || strconv.Itoa(i) != name {
			return fileformat.Corrupt("got the member %s of %d, want numbers from 0", quote(name), n)
		}
	}
	return nil
}

// members returns the names of the members of a stack.
func (d *dict) members() (names []string) {
	for _, x := range d.data {
		names = append(names, x.name)
	}
	for _, inner := range d.dicts {
		names = append(names, inner.name)
	}
	return names
}

// dtype reads the name of a dtype.
func (p *parser) dtype() (tensor.DType, error) {
	text, err := p.Text()
	if err != nil {
		return 0, err
	}
	return ParseDType(string(text))
}
