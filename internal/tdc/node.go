package tdc

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A parser reads the JSON of a form.
type parser struct {
	*jsonscan.Scanner
	contents *Contents
	entries  int
	counter  pool.Counter // of the leaves of the current node
	sum      string       // the checksum of the JSON; "" for none
	sumAt    int          // the byte at which its digits begin
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
	d.setPlaces()
	return d, nil
}

// once reads an object and calls fn with the name of each field. It returns ErrCorrupt if a field
// comes twice.
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
		p.counter = pool.Counter{}
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

// count counts one more entry, and returns an error beyond the limit.
func (p *parser) count() error {
	if p.entries++; p.entries > p.contents.limits.Entries {
		return TooMany(p.contents.limits.Entries)
	}
	return nil
}

// datum reads data: value, batch shape and, since 0.7, device.
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
		err = fileformat.Corrupt("got a list of %d items for data, want 3", n)
	}
	if err != nil {
		return fileformat.In(string(keyIn(d, name)), datajson.Failed(err))
	}
	d.data = append(d.data, x)
	return p.count()
}

// shape reads a shape.
func (p *parser) shape() (shapeops.Shape, error) { return ReadShape(p.Scanner) }

// ReadShape reads a list of at most MaxDims sizes.
func ReadShape(s *jsonscan.Scanner) (shapeops.Shape, error) {
	shape := make(shapeops.Shape, 0, 4)
	err := s.Array(func(i int) error {
		if i == MaxDims {
			return fmt.Errorf("%w: more than %d dims", shapeops.ErrShape, MaxDims)
		}
		n, err := s.Int()
		shape = append(shape, int(n))
		return err
	})
	if err != nil {
		return nil, err
	}
	return shape, shape.Check()
}

// leaf reads a leaf: dtype, shape, start, stop, padding and, for some, the ragged dim.
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
		err = fileformat.Corrupt("got a list of %d items for a leaf, want 5 or 6", n)
	}
	if err == nil {
		err = l.check(pad, p.contents.size)
	}
	if err != nil {
		return fileformat.In(string(l.Key), asCorrupt(err))
	}
	d.leaves = append(d.leaves, l)
	if !p.counter.Counts(name) {
		return nil
	}
	return p.count()
}

// bareName returns the name of a leaf without the prefix of a part of a jagged tensor.
func bareName(name string) string {
	for _, prefix := range jaggedParts {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// jaggedPart reports whether a leaf of that name is a part of a jagged tensor.
func jaggedPart(name string) bool { return bareName(name) != name }

// meta reads a field of cls_metadata.
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
		if d.stackDim = int(n); err == nil && (n < 0 || n > MaxDims) {
			err = fileformat.Corrupt("got the stack_dim %d, want 0 to %d", n, MaxDims)
		}
	case "stack_dim_name":
		d.names, err = p.dimName(nil)
	default:
		err = p.Skip()
	}
	return err
}

// names reads the names of dims.
func (p *parser) names() (names []string, err error) {
	if p.Next() == 'n' {
		return nil, p.Null()
	}
	err = p.Array(func(i int) (err error) {
		if i == MaxDims {
			return fmt.Errorf("%w: more than %d names of dims", shapeops.ErrShape, MaxDims)
		}
		names, err = p.dimName(names)
		return err
	})
	return names, err
}

// dimName reads the name of a dim, null for none, and appends it to names.
func (p *parser) dimName(names []string) ([]string, error) {
	if p.Next() == 'n' {
		return append(names, ""), p.Null()
	}
	text, err := p.Text()
	return append(names, string(text)), err
}

// size reads the field "size", which Python ignores: {"go": facts}, or any value but an object of
// another writer. whole reports whether d is the outermost node.
func (p *parser) size(d *dict, whole bool) error {
	if p.Next() != '{' {
		return p.Skip()
	}
	return p.once(func(name string) error {
		if name != "go" { // Python writes no object here
			return fileformat.Corrupt("size: got the field %s, want \"go\"", quote(name))
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
	case "text":
		err = p.textSum()
	case "schema":
		p.contents.Facts.Schema, err = p.Raw()
	case "crc32c":
		p.contents.Facts.Sums, err = p.sums()
	default:
		err = p.fact(d, name)
	}
	return err
}

// fact reads a native fact about a node. It skips facts of a later version.
func (p *parser) fact(d *dict, name string) (err error) {
	switch name {
	case "class":
		var text []byte
		text, err = p.Text()
		d.goClass = string(text)
	case "unbatched":
		d.unbatched = map[string]shapeops.Shape{}
		err = p.once(func(name string) (err error) {
			d.unbatched[name], err = p.shape()
			return err
		})
	case "ragged":
		err = datajson.ErrOldRagged
	case "dims":
		d.cut, err = ReadDims(p.Scanner)
	default:
		err = p.Skip()
	}
	return err
}

// sums reads the checksums, one for each block.
func (p *parser) sums() ([]uint32, error) {
	text, err := p.Text()
	if err != nil {
		return nil, err
	}
	if want := (p.contents.size + BlockSize - 1) / BlockSize * 8; len(text) != want {
		return nil, fileformat.Corrupt("got %d digits of checksums, want %d", len(text), want)
	}
	b := make([]byte, len(text)/2)
	if _, err := hex.Decode(b, text); err != nil {
		return nil, fileformat.Corrupt("checksums: %w", err)
	}
	sums := make([]uint32, len(b)/4)
	for i := range sums {
		sums[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	return sums, nil
}

// dtype reads the name of a dtype.
func (p *parser) dtype() (tensor.DType, error) {
	text, err := p.Text()
	if err != nil {
		return 0, err
	}
	return ParseDType(string(text))
}
