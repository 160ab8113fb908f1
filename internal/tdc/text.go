package tdc

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/datajson"
	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/shapeops"
)

const (
	torch      = "torch." // prefix of the name of a dtype
	dictClass  = "TensorDict"
	stackClass = "NonTensorStack"
	lazyClass  = "LazyStackedTensorDict"
)

// Facts are the native facts about a whole form.
type Facts struct {
	Sums   []uint32 // the CRC-32C of each block of [BlockSize] bytes of the data; nil for none
	Schema []byte   // JSON; nil for none
}

// Trailer returns the bytes after the data: the JSON and its length. They are valid until p is used
// again. With facts the JSON has a checksum too.
func (p *Plan) Trailer(f *Facts) []byte {
	p.text = p.appendNode(p.text[:0], 0, f)
	if f != nil {
		copy(p.text[p.sumAt:], textSum(p.text, p.sumAt))
	}
	p.text = binary.LittleEndian.AppendUint64(p.text, uint64(len(p.text)))
	return p.text
}

// appendNode appends a node. f is nil for an inner node.
func (p *Plan) appendNode(b []byte, i int, f *Facts) []byte {
	n := &p.nodes[i]
	b = append(append(b, `{"cls":"`...), n.class()...)
	b = n.appendData(append(b, `","non_tensors":{`...))
	b = p.appendLeaves(append(b, `},"leaves":{`...), n)
	b = n.appendMeta(append(b, `},"cls_metadata":{`...))
	b = p.appendFacts(append(b, '}'), n, f)
	for _, inner := range n.nodes {
		b = appendName(append(b, ','), p.nodes[inner].name)
		b = p.appendNode(b, inner, nil)
	}
	return append(b, '}')
}

func (n *node) class() string {
	switch {
	case n.stack:
		return stackClass
	case n.lazy:
		return lazyClass
	}
	return dictClass
}

// appendName appends the name of a field and a colon.
func appendName(b []byte, name string) []byte { return append(jsonlists.AppendText(b, name), ':') }

func (n *node) appendData(b []byte) []byte {
	for i, d := range n.data {
		b = appendName(comma(b, i), d.name)
		b = datajson.Append(append(b, '['), d.value)
		b = appendShape(append(b, ','), d.batch)
		b = append(b, ",null]"...)
	}
	return b
}

// appendLeaves appends the leaves of a node: dtype, shape, start, stop, padding and, for the
// offsets of a jagged tensor, the ragged dim.
func (p *Plan) appendLeaves(b []byte, n *node) []byte {
	for i, number := range n.leaves {
		l := &p.leaves[number]
		b = appendName(comma(b, i), l.prefix+l.name)
		b = append(append(append(b, `["`+torch...), l.t.DType().String()...), `",`...)
		b = appendShape(b, l.shape)
		b = strconv.AppendInt(append(b, ','), int64(l.start), 10)
		b = strconv.AppendInt(append(b, ','), int64(l.end()), 10)
		b = strconv.AppendInt(append(b, ','), int64(l.end()-l.start-l.size), 10)
		if l.prefix == jaggedOffsets {
			b = strconv.AppendInt(append(b, ','), jaggedDim, 10)
		}
		b = append(b, ']')
	}
	return b
}

func comma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

func appendShape(b []byte, s shapeops.Shape) []byte { return jsonlists.AppendInts(b, s) }

// appendMeta appends the fields of cls_metadata.
func (n *node) appendMeta(b []byte) []byte {
	if n.stack || n.lazy {
		b = strconv.AppendInt(append(b, `"stack_dim":`...), int64(n.along), 10)
		b = appendDim(append(b, `,"stack_dim_name":`...), n.dim)
	} else {
		b = append(b, `"device":null,"names":[`...)
		if n.rows != nil {
			b = appendDims(b, make([]string, len(n.rows.Shape())))
			b = appendShape(append(b, `],"batch_size":`...), n.rows.Shape())
		} else {
			b = appendDims(b, n.td.Names())
			b = appendShape(append(b, `],"batch_size":`...), n.td.Shape())
		}
	}
	return strconv.AppendBool(append(b, `,"is_locked":`...), n.locked)
}

// appendDims appends the names of dims, null for a dim without one.
func appendDims(b []byte, names []string) []byte {
	for i, name := range names {
		b = appendDim(comma(b, i), name)
	}
	return b
}

func appendDim(b []byte, name string) []byte {
	if name == "" {
		return append(b, "null"...)
	}
	return jsonlists.AppendText(b, name)
}

// appendFacts appends the native facts of a node, if it has any.
func (p *Plan) appendFacts(b []byte, n *node, f *Facts) []byte {
	before := len(b)
	b = append(b, `,"size":{"go":{`...)
	from := len(b)
	if n.td != nil && n.td.Class() != "" {
		b = jsonlists.AppendText(append(sep(b, from), `"class":`...), n.td.Class())
	}
	b = p.appendUnbatched(b, n, from)
	if n.dims != nil {
		b = n.dims.AppendTo(append(sep(b, from), `"dims":`...))
	}
	if f != nil {
		b = append(sep(b, from), `"text":"`...)
		p.sumAt = len(b)
		b = append(append(b, noSum...), '"')
	}
	if f != nil && f.Schema != nil {
		b = append(append(sep(b, from), `"schema":`...), f.Schema...)
	}
	if f != nil && f.Sums != nil {
		b = appendSums(append(sep(b, from), `"crc32c":"`...), f.Sums)
	}
	if len(b) == from {
		return b[:before]
	}
	return append(b, "}}"...)
}

// sep appends a comma, unless b ends at from, where the fields begin.
func sep(b []byte, from int) []byte { return comma(b, len(b)-from) }

// appendUnbatched appends the batch shapes of unbatched tensors by name, as a field of the facts
// that begin at from, if there are any.
func (p *Plan) appendUnbatched(b []byte, n *node, from int) []byte {
	open := `"unbatched":{`
	for _, number := range n.leaves {
		l := &p.leaves[number]
		if l.unbatched == nil {
			continue
		}
		b = appendName(append(sep(b, from), open...), l.name)
		shape := l.unbatched.Shape()
		b = appendShape(b, shape[:len(shape)-len(l.t.Shape())])
		open = ""
	}
	if open == "" {
		b = append(b, '}')
	}
	return b
}

// appendSums appends sums as hexadecimal digits, eight each.
func appendSums(b []byte, sums []uint32) []byte {
	for _, s := range sums {
		var four [4]byte
		binary.BigEndian.PutUint32(four[:], s)
		b = hex.AppendEncode(b, four[:])
	}
	return append(b, '"')
}
