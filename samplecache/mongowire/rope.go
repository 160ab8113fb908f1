package mongowire

import (
	"io"
	"strconv"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
	"github.com/go-tensordict/tensordict/tensor"
)

// A rope is a document, or a part of one, in pieces. It lends the elements of tensors. The zero
// rope is empty.
type rope struct {
	pieces []piece
	size   int
}

// A piece is bytes, or a range of the elements of a tensor.
type piece struct {
	bytes    []byte
	x        *tensor.Tensor // of uint8, contiguous; or nil
	from, to int
}

func (r *rope) add(b []byte) {
	r.pieces, r.size = append(r.pieces, piece{bytes: b}), r.size+len(b)
}

func (r *rope) lend(x *tensor.Tensor, from, to int) {
	if from < to {
		r.pieces, r.size = append(r.pieces, piece{x: x, from: from, to: to}), r.size+to-from
	}
}

// heap returns about the memory of the rope, without what it lends.
func (r *rope) heap() int {
	n := pieceBytes * len(r.pieces)
	for _, p := range r.pieces {
		n += len(p.bytes)
	}
	return n
}

func (r *rope) join(other rope) {
	r.pieces, r.size = append(r.pieces, other.pieces...), r.size+other.size
}

// whole returns the rope of a document.
func whole(d bson.D) (r rope) {
	r.add(bson.Append(nil, d))
	return r
}

// enclosed returns r as a document or an array: its length, r, and a zero byte.
func enclosed(r rope) (doc rope) {
	doc.add(le.AppendUint32(nil, uint32(r.size+5)))
	doc.join(r)
	doc.add([]byte{0})
	return doc
}

// named returns a document, or an array, as a field.
func named(kind byte, name string, doc rope) (field rope) {
	field.add(bson.AppendName(nil, kind, name))
	field.join(doc)
	return field
}

// array returns an array of documents.
func array(docs []rope) rope {
	var r rope
	for i, doc := range docs {
		r.join(named(bson.Object, strconv.Itoa(i), doc))
	}
	return enclosed(r)
}

// writeTo writes the rope. Elements are not copied.
func (r rope) writeTo(w io.Writer) error {
	for _, p := range r.pieces {
		if err := p.writeTo(w); err != nil {
			return err
		}
	}
	return nil
}

func (p piece) writeTo(w io.Writer) (err error) {
	if p.x == nil {
		_, err = w.Write(p.bytes)
		return err
	}
	lent := tensor.Read(p.x, func(b []uint8) { _, err = w.Write(b[p.from:p.to]) })
	if err == nil {
		err = lent
	}
	return err
}
