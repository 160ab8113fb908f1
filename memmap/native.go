package memmap

import (
	"encoding/hex"
	"math"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// version is the highest supported version of native fields.
const version = 1

// A fact is the field "go" of an entry, with native facts. Python's reader ignores it.
type fact struct {
	has       bool
	sums      []uint32       // of a leaf: the CRC-32C of each block; empty if they are void, nil if it has none
	batch     shapeops.Shape // of data and unbatched tensors: the batch shape; nil if the dictionary has the same
	unbatched bool           // of a leaf: it is an unbatched tensor, with batch shape batch
	path      []string       // of an entry of a growing dataset: the parts of its key
	sizes     []uint32       // of a nested tensor: the sums of its .shape.memmap; nil for none
	more      []byte         // unknown fields, each with a comma before it, if they are kept
}

// A nodeFact is the field "_go" of a node, with native facts.
type nodeFact struct {
	growing bool // a Writer has not called Finish
	nodes   []nodeShape
	names   []string    // of the dims of the batch shape, "" for none; nil if no dim has one
	schema  []byte      // the text of the schema of the outermost dictionary; nil for none
	members int         // of a lazy stack: it has at least this many members
	kinds   memberKinds // of these members; nil if unknown
	dims    tdc.Dims    // of a lazy stack: the numbers of batch dims that it does not have by its members
	outer   string      // of the dictionary of an instance: the sum of the meta.json of the instance
	more    []byte      // as in fact
}

// isSet reports whether f has any fact.
func (f *nodeFact) isSet() bool {
	return f.growing || f.names != nil || f.schema != nil || f.members > 0 || f.outer != "" || f.more != nil
}

// later reports whether unknown native fields, of a later version, were kept.
func (m *meta) later() bool {
	return m.native.more != nil ||
		slices.ContainsFunc(m.entries, func(e metaEntry) bool { return e.fact.more != nil })
}

// A nodeShape is a dictionary in a growing dataset, which has no directory yet.
type nodeShape struct {
	path  []string
	shape shapeops.Shape // of a row
	names []string       // of the dims, including the dim of rows; nil if no dim has one
	more  []byte         // as in fact
}

// A factReader reads native facts.
type factReader struct {
	*jsonscan.Scanner
	keep bool  // unknown fields are kept
	v    int64 // version
}

// unknown reads a field of a later version, and appends it to more if it is to be kept.
func (r *factReader) unknown(name string, more *[]byte) error {
	value, err := r.Raw()
	if r.keep && err == nil {
		*more = append(append(appendText(append(*more, ','), name), ':'), value...)
	}
	return err
}

// object reads an object with a version. It returns ErrUnsupported for a later version, whatever
// else the object holds.
func (r *factReader) object(field func(name string) error) error {
	start := *r.Scanner
	err := r.fields(field)
	if err != nil && r.v < 1 { // a later version may follow, which explains the error
		*r.Scanner = start
		if r.fields(func(string) error { return r.Skip() }) != nil {
			return err
		}
	}
	if r.v > version || err == nil && r.v < 1 {
		err = unsupported("native fields of version %d: want 1 to %d", r.v, version)
	}
	return err
}

// fields reads an object with a version. It skips the fields after a later version.
func (r *factReader) fields(field func(name string) error) error {
	return r.Object(func(name []byte) (err error) {
		if string(name) == "v" {
			r.v, err = r.Int()
			return err
		}
		if r.v > version {
			return r.Skip()
		}
		return field(string(name))
	})
}

// decode reads the field "go" of an entry.
func (f *fact) decode(s *jsonscan.Scanner, keep bool) error {
	r := &factReader{Scanner: s, keep: keep}
	f.has = true
	return r.object(func(name string) (err error) {
		switch name {
		case "sums":
			f.sums, err = r.sums()
		case "unbatched":
			f.unbatched = true
			f.batch, err = r.shape()
		case "shape":
			f.batch, err = r.shape()
		case "path":
			f.path, err = r.texts()
		case "ragged":
			err = datajson.ErrOldRagged
		case "nested":
			f.sizes, err = r.sizes()
		default:
			err = r.unknown(name, &f.more)
		}
		return err
	})
}

// decode reads the field "_go" of a node, with at most most nodes. It is a list of objects, since
// Python would take an object for an entry.
func (f *nodeFact) decode(s *jsonscan.Scanner, most int, keep bool) error {
	return s.Array(func(int) error {
		r := &factReader{Scanner: s, keep: keep}
		return r.object(func(name string) (err error) {
			switch name {
			case "growing":
				f.growing, err = r.Bool()
			case "dims":
				f.dims, err = tdc.ReadDims(r.Scanner)
			case "outer":
				var text []byte
				text, err = r.Text()
				f.outer = string(text)
			case "names":
				f.names, err = r.texts()
			case "members":
				f.members, err = r.count()
			case "kinds":
				f.kinds, err = r.kinds()
			case "schema":
				f.schema, err = r.Raw()
				f.schema = slices.Clone(f.schema) // so that the rest of the text can be freed
			case "nodes":
				err = r.Array(func(int) error { return f.node(r, most) })
			default:
				err = r.unknown(name, &f.more)
			}
			return err
		})
	})
}

// count reads a number of members.
func (r *factReader) count() (int, error) {
	n, err := r.Int()
	if err == nil && (n < 0 || n > math.MaxInt32) {
		err = corrupt("got %d members, want 0 to %d", n, math.MaxInt32)
	}
	return int(n), err
}

// kinds reads the kind under each key.
func (r *factReader) kinds() (memberKinds, error) {
	kinds := memberKinds{}
	err := r.Object(func(key []byte) error {
		name := nestedkey.Key(key)
		kind, err := r.Text()
		kinds[name] = string(kind)
		return err
	})
	return kinds, err
}

// node reads one dictionary of a growing dataset.
func (f *nodeFact) node(r *factReader, most int) error {
	if len(f.nodes) >= most {
		return tooMany(most)
	}
	n := nodeShape{}
	err := r.Object(func(name []byte) (err error) {
		switch string(name) {
		case "path":
			n.path, err = r.texts()
		case "shape":
			n.shape, err = r.shape()
		case "names":
			n.names, err = r.texts()
		default:
			err = r.unknown(string(name), &n.more)
		}
		return err
	})
	f.nodes = append(f.nodes, n)
	return err
}

func (r *factReader) shape() (shapeops.Shape, error) {
	d := metaDecoder{Scanner: r.Scanner}
	return d.shape()
}

func (r *factReader) texts() ([]string, error) {
	texts := []string{}
	err := r.Array(func(i int) error {
		if i > tdict.MaxDepth {
			return corrupt("a path of more than %d names", tdict.MaxDepth)
		}
		text, err := r.Text()
		texts = append(texts, string(text))
		return err
	})
	return texts, err
}

// sizes reads the description of a nested tensor.
func (r *factReader) sizes() (sums []uint32, err error) {
	err = r.Object(func(name []byte) (err error) {
		if string(name) != "sums" {
			return r.Skip()
		}
		sums, err = r.sums()
		return err
	})
	return sums, err
}

// sums reads a list of 32-bit numbers, each as eight hexadecimal digits.
func (r *factReader) sums() ([]uint32, error) {
	sums := []uint32{}
	err := r.Array(func(int) error {
		text, err := r.Text()
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(text), 16, 32)
		if err != nil || len(text) != 8 {
			return corrupt("got the checksum %s, want 8 hexadecimal digits", quote(string(text)))
		}
		sums = append(sums, uint32(n))
		return nil
	})
	return sums, err
}

// appendTo appends the value of the field "go", or nothing if f is empty.
func (f *fact) appendTo(b []byte) []byte {
	if f.sums == nil && f.batch == nil && f.path == nil && !f.unbatched && f.sizes == nil && f.more == nil {
		return b
	}
	b = append(append(b, `{"v":1`...), f.more...)
	if f.path != nil {
		b = appendTexts(append(b, `,"path":`...), f.path)
	}
	if f.unbatched {
		b = appendShape(append(b, `,"unbatched":`...), f.batch)
	} else if f.batch != nil {
		b = appendShape(append(b, `,"shape":`...), f.batch)
	}
	if f.sizes != nil {
		b = append(appendSums(append(b, `,"nested":{"sums":`...), f.sizes), '}')
	}
	if f.sums != nil {
		b = appendSums(append(b, `,"sums":`...), f.sums)
	}
	return append(b, '}')
}

// appendSums appends a list of sums.
func appendSums(b []byte, sums []uint32) []byte {
	b = append(b, '[')
	for i, sum := range sums {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = hex.AppendEncode(b, []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
		b = append(b, '"')
	}
	return append(b, ']')
}

// appendTo appends the value of the field "_go".
func (f *nodeFact) appendTo(b []byte) []byte {
	b = append(append(b, `[{"v":1`...), f.more...)
	if f.names != nil {
		b = appendTexts(append(b, `,"names":`...), f.names)
	}
	if f.members > 0 {
		b = strconv.AppendInt(append(b, `,"members":`...), int64(f.members), 10)
	}
	if f.kinds != nil {
		b = f.kinds.appendTo(append(b, `,"kinds":`...))
	}
	if f.dims != nil {
		b = f.dims.AppendTo(append(b, `,"dims":`...))
	}
	if f.outer != "" {
		b = appendText(append(b, `,"outer":`...), f.outer)
	}
	if f.schema != nil {
		b = append(append(b, `,"schema":`...), f.schema...)
	}
	if !f.growing {
		return append(b, `}]`...)
	}
	b = append(b, `,"growing":true,"nodes":[`...)
	for i, n := range f.nodes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendTexts(append(b, `{"path":`...), n.path)
		b = appendShape(append(b, `,"shape":`...), n.shape)
		if n.names != nil {
			b = appendTexts(append(b, `,"names":`...), n.names)
		}
		b = append(append(b, n.more...), '}')
	}
	return append(b, `]}]`...)
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, text)
	}
	return append(b, ']')
}

func appendShape(b []byte, s shapeops.Shape) []byte { return jsonlists.AppendInts(b, s) }
