package mongowire

import (
	"bytes"
	"io"
	"sort"

	"github.com/go-tensordict/tensordict/internal/bson"
	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A gather is the documents of a sample that have come. The zero gather has none.
type gather struct {
	kinds []string // in the order in which they came
	files map[string]*chunks
	size  int64 // bytes in memory
}

// chunkBytes is what a chunk takes in memory besides its bytes.
const chunkBytes = 64

// A part is a document of write.bin.
type part struct {
	id, chunk int64
	kind      string
	bytes     []byte
	last      bool
}

// parsePart returns a document of write.bin.
func parsePart(doc bson.Doc) (p part, err error) {
	known := true
	for name, v := range doc.All() {
		ok := true
		switch name {
		case "_id":
		case "id":
			p.id, ok = v.Int()
		case "chunk_id":
			p.chunk, ok = v.Int()
		case "kind":
			p.kind, ok = v.Text()
		case "chunk":
			p.bytes, ok = v.Bytes()
		case "telomere":
			p.last = v.True()
		default:
			ok = false
		}
		if !ok {
			return p, notValid.saying("got field %s of a type or name that is not known, want id, chunk_id, kind, chunk, telomere", errtext.Quote(name))
		}
	}
	for _, name := range []string{"id", "chunk_id", "kind", "chunk"} {
		known = known && doc.Get(name).Kind != 0
	}
	if !known {
		return p, notValid.saying("got a document without one of the fields id, chunk_id, kind, chunk")
	}
	return p, nil
}

// add adds a document to a sample that may take most bytes. The bytes are not copied.
func (g *gather) add(p part, most int64) error {
	f := g.files[p.kind]
	n := 0
	if f != nil {
		n = len(f.pieces)
	}
	g.size += int64(len(p.bytes)) + chunkBytes
	if f == nil {
		g.size += int64(len(p.kind)) + chunkBytes
	}
	switch {
	case p.chunk != int64(n):
		return notValid.saying("sample %d: got chunk %d of %s, want %d: chunks come in their order", p.id, p.chunk, errtext.Quote(p.kind), n)
	case g.size > most:
		return notValid.saying("sample %d: got %d bytes, want at most %d: call clone before torch.save, which writes all that a view is a part of", p.id, g.size, most)
	}
	if f == nil {
		f = &chunks{}
		if g.files == nil {
			g.files = map[string]*chunks{}
		}
		g.files[p.kind] = f
		g.kinds = append(g.kinds, p.kind)
	}
	f.add(p.bytes)
	return nil
}

// keep copies what is not copied yet, so that the message can go.
func (g *gather) keep() {
	for _, f := range g.files {
		for ; f.kept < len(f.pieces); f.kept++ {
			f.pieces[f.kept] = bytes.Clone(f.pieces[f.kept])
		}
	}
}

// chunks are the consecutive pieces of a file.
type chunks struct {
	pieces [][]byte
	ends   []int64 // of the pieces in the file
	kept   int     // pieces that are not part of a message
}

func (f *chunks) add(b []byte) {
	f.pieces = append(f.pieces, b)
	f.ends = append(f.ends, f.size()+int64(len(b)))
}

func (f *chunks) size() int64 {
	if len(f.ends) == 0 {
		return 0
	}
	return f.ends[len(f.ends)-1]
}

// ReadAt implements [io.ReaderAt].
func (f *chunks) ReadAt(b []byte, at int64) (n int, err error) {
	i := sort.Search(len(f.ends), func(i int) bool { return f.ends[i] > at })
	for ; i < len(f.pieces) && n < len(b); i++ {
		start := f.ends[i] - int64(len(f.pieces[i]))
		n += copy(b[n:], f.pieces[i][at+int64(n)-start:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}
