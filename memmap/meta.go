package memmap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/pool"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// The fields of meta.json that are not entries.
const (
	fieldShape  = "shape"
	fieldDevice = "device"
	fieldType   = "_type"
	fieldNative = "_go" // native facts about the node; Python ignores them
)

const (
	torch   = "torch." // prefix of the name of a dtype
	maxMeta = 64 << 20 // bytes of meta.json
	maxDims = tdc.MaxDims

	// maxEntryName bounds the name of an entry, in bytes. File systems bound names of entries with
	// files.
	maxEntryName = 1 << 16
)

// What the consolidated form shares with meta.json.
var checkShape, byteSize, tooMany = tdc.CheckShape, tdc.ByteSize, tdc.TooMany

// A meta is the content of a meta.json file.
type meta struct {
	shape   shapeops.Shape
	class   string // the last part of the name of the Python class
	entries []metaEntry
	counted int      // entries, with one for each ragged tensor
	dim     int      // of a lazy stack: the stack dim; -1 if it is missing
	data    []byte   // of data: the JSON text of the value or values; nil if it is missing
	native  nodeFact // native facts

	text      []byte // the whole text
	fullClass string // the whole name of the Python class
	instance  []byte // the whole text, unless ownClass(class); otherwise nil
}

// A metaEntry is an entry in a meta.json: a leaf, or a node, which has another meta.json.
type metaEntry struct {
	name   string
	class  string // of a node: its class in the entry; the class in its own meta.json counts
	dtype  string // of a leaf
	shape  shapeops.Shape
	nested nestedness // of a leaf
	fact   fact       // native facts
	outer  []byte     // of the dictionary of an instance: the meta.json of the instance
}

// A nestedness says whether a leaf is a nested tensor of Python's. Writers before v0.5 leave it
// out.
type nestedness uint8

const (
	unknownNested nestedness = iota
	isDense
	isNested
)

// isNode reports whether the entry is a node.
func (e *metaEntry) isNode() bool { return e.dtype == "" }

// hasDataSum reports whether the entry is data with a sum of its meta.json.
func (e *metaEntry) hasDataSum() bool {
	return e.isNode() && len(e.fact.sums) == 1
}

// file returns the name of the entry's file or directory.
func (e *metaEntry) file() string {
	if e.isNode() {
		return fileName(e.name)
	}
	return fileName(e.name) + leafExt
}

// rawFile returns the name that writers gave the file before they escaped names.
func (e *metaEntry) rawFile() string {
	if e.isNode() {
		return e.name
	}
	return e.name + leafExt
}

// newMetaDecoder returns a decoder of a meta.json with at most entries entries. It keeps their
// order. It ignores unknown fields, as Python does, and returns ErrCorrupt for two entries of one
// name.
func newMetaDecoder(text []byte, entries int) *metaDecoder {
	d := &metaDecoder{Scanner: jsonscan.New(text), most: entries, names: map[string]bool{}}
	d.onEntryField, d.m.dim = d.entryField, -1
	return d
}

// decode reads the whole text.
func (d *metaDecoder) decode(text []byte) (*meta, error) {
	if !utf8.Valid(text) {
		return nil, corrupt("not UTF-8")
	}
	err := checkMetaSum(text, false)
	if err == nil {
		err = d.Object(d.field)
	}
	if err == nil {
		err = d.End()
	}
	if err == nil && dictClasses[d.m.class] {
		err = d.resolve()
	}
	if err != nil && !known(err) {
		err = corrupt("%w", err)
	}
	if err == nil && d.m.class == "" {
		err = corrupt("no field %q", fieldType)
	}
	if err == nil && (dictClasses[d.m.class] || d.m.class == lazyClass) {
		err = checkMetaSum(text, true) // Python may have added fields after it
	}
	if err == nil && dictClasses[d.m.class] && !d.names[fieldShape] {
		err = corrupt("no field %q", fieldShape)
	}
	if err != nil {
		return nil, err
	}
	d.m.text = text
	if !ownClass(d.m.class) {
		d.m.instance = text
	}
	return &d.m, nil
}

// A metaDecoder reads one meta.json.
type metaDecoder struct {
	*jsonscan.Scanner
	most  int  // bound on the entries
	keep  bool // unknown native fields are kept
	names map[string]bool
	m     meta

	counter pool.Counter
	unclear []unclearField

	entry        metaEntry // the one being read
	seen         uint8     // its fields so far, as bits
	onEntryField func(field []byte) error
}

// An unclearField is an entry in a dictionary, and has another meaning in data or a lazy stack. The
// class, which decides, may come after it.
type unclearField struct {
	name []byte
	at   int // number of entries before it
	text []byte
}

// field reads one field.
func (d *metaDecoder) field(name []byte) (err error) {
	if d.names[string(name)] {
		return corrupt("duplicate field %s", quote(string(name)))
	}
	switch string(name) {
	case fieldType:
		err = d.class()
		d.names[fieldType] = true
	case fieldShape:
		d.m.shape, err = d.shape()
		d.names[fieldShape] = true
	case fieldNative:
		err = d.m.native.decode(d.Scanner, d.most, d.keep)
		d.names[fieldNative] = true
	case "data", "stack_dim":
		err = d.unclearField(name)
	default:
		err = d.readEntry(name)
	}
	return inField(name, err)
}

// inField returns err as an error about a field; nil stays nil.
func inField(name []byte, err error) error {
	if err == nil || known(err) {
		return err
	}
	return corrupt("field %s: %w", quote(string(name)), err)
}

// known reports whether err needs no classification: it is ErrCorrupt or ErrUnsupported, or an
// error of the system, such as syscall.EIO, which says nothing about the content of a file.
func known(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return system || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnsupported) || errors.Is(err, ErrFault)
}

// unclearField reads a field with both meanings, as far as data and lazy stacks need it.
func (d *metaDecoder) unclearField(name []byte) error {
	text, err := d.Raw()
	if err != nil {
		return err
	}
	d.unclear = append(d.unclear, unclearField{slices.Clone(name), len(d.m.entries), text})
	if d.names[string(name)] = true; string(name) == "data" {
		d.m.data = text
	} else if n, err := jsonscan.New(text).Int(); err == nil && n <= maxDims {
		d.m.dim = int(n)
	}
	return nil
}

// resolve makes the unclear fields entries, in their places, in the meta.json of a dictionary.
func (d *metaDecoder) resolve() error {
	for _, f := range slices.Backward(d.unclear) {
		d.Scanner = jsonscan.New(f.text)
		n := len(d.m.entries)
		if err := inField(f.name, d.readEntry(f.name)); err != nil {
			return err
		}
		if all := d.m.entries; len(all) > n {
			d.m.entries = slices.Insert(all[:n], f.at, all[n])
		}
	}
	return nil
}

// class reads "<class 'tensordict._td.TensorDict'>".
func (d *metaDecoder) class() error {
	text, err := d.Text()
	d.m.fullClass = strings.TrimSuffix(strings.TrimPrefix(string(text), "<class '"), "'>")
	d.m.class = lastPart(d.m.fullClass)
	return err
}

// shape reads a list of at most maxDims sizes.
func (d *metaDecoder) shape() (shapeops.Shape, error) {
	if d.Next() != '[' {
		return nil, fmt.Errorf("%w: want a list", shapeops.ErrShape)
	}
	return tdc.ReadShape(d.Scanner)
}

// The fields of an entry, as bits.
const (
	seenType uint8 = 1 << iota
	seenDType
	seenShape
	seenNested
	seenFact
)

// readEntry reads a field that is an entry if its value is an object with a type, or with a dtype
// and a shape.
func (d *metaDecoder) readEntry(name []byte) error {
	if d.Next() != '{' {
		return d.Skip()
	}
	d.entry, d.seen = metaEntry{}, 0
	if err := d.Object(d.onEntryField); err != nil {
		return err
	}
	const leaf = seenDType | seenShape
	if d.seen&seenType != 0 {
		d.entry.dtype, d.entry.shape = "", nil
	} else if d.seen&leaf != leaf {
		if d.seen&seenFact != 0 {
			return corrupt("native fields without a type, or a dtype and a shape")
		}
		return nil
	}
	if len(name) > maxEntryName {
		return unsupported("an entry whose name has %d bytes, want at most %d", len(name), maxEntryName)
	}
	d.entry.name = string(name)
	if d.counter.Counts(d.entry.name) {
		d.m.counted++
	}
	if d.m.counted > d.most {
		return tooMany(d.most)
	}
	d.names[d.entry.name] = true
	if len(d.m.entries) == cap(d.m.entries) { // append alone would copy a long list five times
		d.m.entries = slices.Grow(d.m.entries, len(d.m.entries)+1)
	}
	d.m.entries = append(d.m.entries, d.entry)
	return nil
}

// entryField reads one field of an entry.
func (d *metaDecoder) entryField(field []byte) (err error) {
	bit := uint8(0)
	e := &d.entry
	switch string(field) {
	case "type":
		bit, err = seenType, d.entryClass(e)
	case "dtype":
		bit = seenDType
		e.dtype, err = d.dtype()
	case "shape":
		bit = seenShape
		e.shape, err = d.shape()
	case "is_nested":
		bit = seenNested
		e.nested, err = d.nested()
	case "go":
		bit, err = seenFact, e.fact.decode(d.Scanner, d.keep)
	default:
		return d.Skip()
	}
	if err == nil && d.seen&bit != 0 {
		err = corrupt("duplicate field %q", field)
	}
	d.seen |= bit
	return err
}

// entryClass reads the type of an entry. Its presence makes the entry a node; the value does not
// matter.
func (d *metaDecoder) entryClass(e *metaEntry) error {
	if d.Next() != '"' {
		return d.Skip()
	}
	text, err := d.Text()
	e.class = className(text)
	return err
}

func (d *metaDecoder) dtype() (string, error) {
	text, err := d.Text()
	if known, ok := dtypeNames[string(text)]; ok { // allocates nothing
		return known, err
	}
	if len(text) == 0 && err == nil {
		return "", corrupt("there is no dtype %q", "")
	}
	return string(text), err
}

func (d *metaDecoder) nested() (nestedness, error) {
	if d.Next() == 'n' {
		return unknownNested, d.Null()
	}
	yes, err := d.Bool()
	if yes {
		return isNested, err
	}
	return isDense, err
}

// className returns text as a string, without allocation for the common classes.
func className(text []byte) string {
	for _, known := range []string{dictClass, dataClass, dataStackClass} {
		if string(text) == known {
			return known
		}
	}
	return string(text)
}

// dtypeNames are the names of this module's dtypes in the format.
var dtypeNames = func() map[string]string {
	names := map[string]string{}
	for _, d := range tensor.DTypes() {
		names[torch+d.String()] = torch + d.String()
	}
	return names
}()

// element returns the dtype of a leaf.
func (e *metaEntry) element() (tensor.DType, error) { return tdc.ParseDType(e.dtype) }

// holds reports whether the directory dir belongs to the node: an entry, a member, or the
// dictionary of an instance.
func (m *meta) holds(dir string) bool {
	if m.class == lazyClass {
		_, ok := memberNumber(dir)
		return ok
	}
	return m.instance != nil && dir == classDir || m.number(dir) >= 0
}

// number returns the index of the entry whose directory is dir, or -1.
func (m *meta) number(dir string) int {
	return slices.IndexFunc(m.entries, func(e metaEntry) bool {
		return e.isNode() && (fileName(e.name) == dir || e.name == dir)
	})
}

// old reports whether m may be of a writer before v0.4, which listed no nodes: no entry is a node,
// or has a field that came later.
func (m *meta) old() bool {
	for i := range m.entries {
		if e := &m.entries[i]; e.isNode() || e.nested != unknownNested {
			return false
		}
	}
	return true
}
