package nrt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// Read returns the collection in data, the bytes of a file. Its values alias data, except for
// values that are not aligned for their type, which Read copies. Read returns the errors of
// [OpenWith], except errors of the system. To get only some fields, call Select on the result.
func Read(data []byte) (*joint.Joint, error) {
	from := bytes.NewReader(data)
	head, err := header(from, int64(len(data)))
	if err != nil {
		return nil, fileformat.Failed("read", "", "", err)
	}
	r := &reader{op: "read", from: from, head: head}
	r.values = func(d tensor.DType, at, n int) (*tensor.Tensor, error) {
		b := data[at : at+n*d.Size()]
		if !cast.Aligned(b, d.Size()) {
			b = append(cast.Uninit(len(b))[:0], b...)
		}
		return tensor.FromBytes(d, b, n)
	}
	return r.joint()
}

// A reader reads a file as a collection.
type reader struct {
	op, path string // for errors
	from     io.ReaderAt
	head     *safetensors.Header
	keys     []string // fields to open; nil means all
	most     int64    // largest number of bytes of bounds to copy; 0 means the default
	copied   int64
	// values returns n values from byte at of the file on.
	values func(d tensor.DType, at, n int) (*tensor.Tensor, error)

	wanted map[string]bool            // set of keys; nil means all
	bounds map[int]*safetensors.Entry // by level
	fields []field
	levels []*ragged.Layout // by depth, down to the deepest field
}

// A field is an array of values.
type field struct {
	*safetensors.Entry
	dtype tensor.DType
	depth int // negative for a scalar
	key   string
}

// joint reads everything but values.
func (r *reader) joint() (*joint.Joint, error) {
	r.begin()
	for i := range r.head.Entries {
		e := &r.head.Entries[i]
		if err := r.sort(e); err != nil {
			return nil, r.fail(e.Name, err)
		}
	}
	if err := r.nest(); err != nil {
		return nil, err
	}
	if err := r.dropLengths(); err != nil {
		return nil, err
	}
	if err := r.order(); err != nil {
		return nil, err
	}
	return r.joined()
}

// begin initializes the maps.
func (r *reader) begin() {
	r.bounds = map[int]*safetensors.Entry{}
	if r.keys == nil {
		return
	}
	r.wanted = map[string]bool{}
	for _, key := range r.keys {
		r.wanted[key] = true
	}
}

// fail adds the name of an array to err, unless err is nil.
func (r *reader) fail(name string, err error) error {
	return fileformat.Failed(r.op, r.path, name, err)
}

// sort adds an array to the bounds or to the fields.
func (r *reader) sort(e *safetensors.Entry) error {
	depth, key, ok := parseName(e.Name)
	switch {
	case ok && key == boundsName && depth > 0:
		r.bounds[depth] = e
		return nil
	case r.wanted != nil && !r.wanted[key]:
		return nil
	case !ok:
		return corrupt("want a name of \"dim\", a depth, \"/\" and a key")
	case key == boundsName:
		return corrupt("got bounds at depth %d, want at least 1", depth)
	}
	return r.add(field{Entry: e, depth: depth, key: key})
}

// add adds a field.
func (r *reader) add(f field) (err error) {
	if err := checkKey(f.key); err != nil {
		return err
	}
	if f.dtype, err = dtypeOf(f.DType); err != nil {
		return err
	}
	if err := checkRank(f.Entry); err != nil {
		return err
	}
	if f.depth < 0 && f.Shape[0] != 1 {
		return corrupt("got %d values, want 1: a negative depth is for a scalar", f.Shape[0])
	}
	r.fields = append(r.fields, f)
	return nil
}

func checkRank(e *safetensors.Entry) error {
	if len(e.Shape) != 1 {
		return corrupt("got shape %v, want one dim", e.Shape)
	}
	return nil
}

// nest reads the bounds down to the deepest field, and makes the layouts.
func (r *reader) nest() error {
	depth, first := -1, field{}
	for _, f := range r.fields {
		if f.depth > depth {
			depth, first = f.depth, f
		}
	}
	if depth < 0 {
		return nil
	}
	for level := range depth { // check before reading anything
		if r.bounds[level+1] == nil {
			return r.fail(first.Name, corrupt("got depth %d, but no %s", depth, nameOf(level+1, boundsName)))
		}
	}
	if err := r.root(depth, first); err != nil {
		return err
	}
	for level := 1; level <= depth; level++ {
		if err := r.level(r.bounds[level]); err != nil {
			return r.fail(r.bounds[level].Name, err)
		}
	}
	return nil
}

// root makes the layout of depth 0. depth is the depth of deepest, the deepest field.
func (r *reader) root(depth int, deepest field) error {
	e := deepest.Entry
	if depth > 0 {
		e = r.bounds[1]
	}
	if err := checkRank(e); err != nil {
		return r.fail(e.Name, err)
	}
	l, err := ragged.NewLayout(shapeops.Shape{e.Shape[0]})
	r.levels = append(r.levels, l)
	return r.fail(e.Name, err)
}

// level reads the bounds of the next level.
func (r *reader) level(e *safetensors.Entry) error {
	if e.DType != boundsDType {
		return corrupt("got dtype %s, want %s", e.DType, boundsDType)
	}
	if err := checkRank(e); err != nil {
		return err
	}
	outer := r.levels[len(r.levels)-1]
	if got, want := e.Shape[0], rows(outer); got != want {
		return corrupt("got %d bounds, want %d: one for each row of level %d", got, want, outer.Depth())
	}
	if err := r.copies(e.Shape[0] + 1); err != nil {
		return err
	}
	offsets := make([]int64, e.Shape[0]+1)
	if err := r.read(cast.Bytes(offsets[1:]), e.Begin); err != nil {
		return err
	}
	l, err := outer.Nest(offsets)
	if err != nil {
		return corrupt("%w", err)
	}
	r.levels = append(r.levels, l)
	return nil
}

// copies adds n numbers of 64 bits to the number of copied bytes. It returns ErrUnsupported if that
// exceeds MaxCopy.
func (r *reader) copies(n int) error {
	most := r.most
	if most <= 0 {
		most = 1 << 30
	}
	if r.copied += int64(n) * 8; r.copied > most {
		return unsupported("%d bytes of bounds would be copied, want at most %d: raise MaxCopy", r.copied, most)
	}
	return nil
}

// rows returns the number of rows, or values, of the last level of a layout.
func rows(l *ragged.Layout) int {
	n, _ := l.NumRows(l.Depth()) // l has that level
	return n
}

// read fills b with the data from offset at on.
func (r *reader) read(b []byte, at int64) error {
	n, err := r.from.ReadAt(b, r.head.DataStart+at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return corrupt("the file was truncated: got %d bytes, want %d", n, len(b))
	}
	return err
}

// dropLengths removes the lengths of old writers from the fields.
func (r *reader) dropLengths() error {
	kept := r.fields[:0]
	for _, f := range r.fields {
		is, err := r.areLengths(f)
		if err != nil {
			return r.fail(f.Name, err)
		}
		if !is {
			kept = append(kept, f)
		}
	}
	r.fields = kept
	return nil
}

// areLengths reports whether a field has the lengths of the rows of its level.
func (r *reader) areLengths(f field) (bool, error) {
	if f.key != lengthsName || f.depth < 1 || f.dtype != tensor.Int64 || f.Shape[0] != rows(r.levels[f.depth-1]) {
		return false, nil
	}
	if err := r.copies(2 * f.Shape[0]); err != nil {
		return false, err
	}
	values := make([]int64, f.Shape[0])
	if err := r.read(cast.Bytes(values), f.Begin); err != nil {
		return false, err
	}
	lengths, err := r.levels[f.depth].Lengths(f.depth)
	return slices.Equal(values, lengths), err
}

// order selects the fields to open, in the order of r.keys.
func (r *reader) order() error {
	slices.SortFunc(r.fields, func(a, b field) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.depth, b.depth)) })
	for i := range r.fields[min(1, len(r.fields)):] {
		if a, b := r.fields[i], r.fields[i+1]; a.key == b.key {
			return r.fail(b.Name, corrupt("got the key at depths %d and %d, want it once", a.depth, b.depth))
		}
	}
	if r.keys == nil {
		return nil
	}
	var wanted []field
	for _, key := range r.keys {
		at, ok := slices.BinarySearchFunc(r.fields, key, func(f field, key string) int { return cmp.Compare(f.key, key) })
		if !ok {
			return r.fail("", fmt.Errorf("%w: got key %s, which the file does not have", joint.ErrName, errtext.Quote(key)))
		}
		wanted = append(wanted, r.fields[at])
	}
	r.fields = wanted
	return nil
}

// joined returns the collection of the fields.
func (r *reader) joined() (*joint.Joint, error) {
	fields := make([]joint.Field, len(r.fields))
	for i, f := range r.fields {
		t, err := r.tensor(f)
		if err != nil {
			return nil, r.fail(f.Name, err)
		}
		fields[i] = joint.Field{Name: f.key, Tensor: t}
	}
	j, err := joint.New(fields...)
	return j, r.fail("", err)
}

// tensor returns a field. It does not read the values.
func (r *reader) tensor(f field) (*ragged.Tensor, error) {
	l, err := r.layout(f.depth)
	if err != nil {
		return nil, err
	}
	n := f.Shape[0]
	if want := rows(l); n != want {
		return nil, corrupt("got %d values, want %d, the size of level %d", n, want, f.depth)
	}
	if n == 0 {
		values, err := tensor.New(f.dtype, 0)
		if err != nil {
			return nil, err
		}
		return ragged.New(values, l)
	}
	values, err := r.values(f.dtype, int(r.head.DataStart+f.Begin), n)
	if err != nil {
		return nil, err
	}
	return ragged.New(values, l)
}

// layout returns the layout of a depth.
func (r *reader) layout(depth int) (*ragged.Layout, error) {
	if depth < 0 {
		return ragged.NewLayout(nil)
	}
	return r.levels[depth], nil
}
