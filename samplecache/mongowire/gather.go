package mongowire

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"sort"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A gather holds the documents of a sample that have come. The zero gather is empty.
type gather struct {
	kinds []string // in the order in which they came
	files map[string]*chunks
	size  int64 // bytes in memory
}

const (
	chunkBytes = 64      // memory of a chunk besides its bytes
	maxKind    = 1 << 10 // bytes of a kind
)

// A part is a document of write.bin.
type part struct {
	id, chunk int64
	kind      string
	bytes     []byte
	last      bool
}

// partFields are the fields of a document of write.bin.
var partFields = []string{"id", "chunk_id", "kind", "chunk", "telomere", "_id"}

// parsePart reads a document of write.bin. Even with an error, the part has the id; -1 if that is
// missing.
func parsePart(doc bson.Doc) (p part, err error) {
	var values [6]bson.Value
	n := 0
	for name, v := range doc.All() {
		i := slices.Index(partFields, name)
		switch n++; {
		case n > len(values):
			err = cmp.Or(err, notValid.saying("got more than %d fields", len(values)))
		case i < 0:
			err = cmp.Or(err, notValid.saying("got field %s, want _id, id, chunk_id, kind, chunk or telomere", errtext.Quote(name)))
		case values[i].Kind == 0:
			values[i] = v
		}
		if n > len(values) {
			break
		}
	}
	var ok [4]bool
	if p.id, ok[0] = values[0].Int(); !ok[0] {
		p.id = -1
	}
	p.chunk, ok[1] = values[1].Int()
	p.kind, ok[2] = values[2].Text()
	p.bytes, ok[3] = values[3].Bytes()
	p.last = values[4].True()
	if ok != [4]bool{true, true, true, true} {
		return p, notValid.saying("a field is missing or has another type: want id and chunk_id, integers, kind, a string, and chunk, binary data")
	}
	if len(p.kind) > maxKind {
		return p, notValid.saying("got a kind of %d bytes, want at most %d", len(p.kind), maxKind)
	}
	return p, err
}

// add adds a document to a sample of at most most bytes, without a copy.
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
		return notValid.saying("sample %d: got chunk %d of %s, want %d: send chunks in order", p.id, p.chunk, errtext.Quote(p.kind), n)
	case g.size > most:
		return notValid.saying("sample %d: got %d bytes, want at most %d: call clone before torch.save, which writes the whole storage of a view", p.id, g.size, most)
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

// keep copies the pieces that are parts of a message, so that its memory can be used again.
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
	kept   int     // pieces that are copied
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
