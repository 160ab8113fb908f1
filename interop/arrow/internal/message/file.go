package message

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
)

// magic begins a file, with two more bytes, and ends it.
const magic = "ARROW1"

// isFile reports whether b begins as a file does, unlike a stream.
func isFile(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// version1 returns ErrUnsupported if b begins as a Feather file of version 1, which is another
// format.
func version1(b []byte) error {
	if bytes.HasPrefix(b, []byte("FEA1")) {
		return unsupported("got a Feather file of version 1 (FEA1), want version 2, which is Arrow's file format")
	}
	return nil
}

// A File is a file in memory, or mapped. It is in the file format, or a stream. Not safe for
// concurrent use.
type File struct {
	*decoder
	parts   []part // schema excepted; of the file format, dictionaries first
	batches []int  // index in parts of each batch
	at      int    // number of parts of which the dictionaries were read
	stream  bool
}

// Open returns the file with bytes b, which must not change in length while the File is used. Its
// errors, and the errors of its methods, are [*Error]s: [ErrCorrupt], [ErrUnsupported], [ErrMemory]
// or io.ErrUnexpectedEOF.
func Open(b []byte, opt Options) (*File, error) {
	f := &File{stream: !isFile(b)}
	err := version1(b)
	switch {
	case err != nil:
	case f.stream:
		err = f.openStream(b, opt)
	default:
		err = In("", "footer", "", f.openFile(b, opt))
	}
	return f, In(opt.Path, "", "", err)
}

// openStream finds the messages of a stream.
func (f *File) openStream(b []byte, opt Options) error {
	frames := newFrames(&memorySource{b})
	p, err := frames.next()
	if err != nil {
		return err
	}
	if f.decoder, err = newDecoder(p.header, opt); err != nil {
		return err
	}
	for {
		p, err := frames.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		f.add(p)
	}
}

// add appends a part.
func (f *File) add(p part) {
	if p.kind == kindBatch {
		p.name = fmt.Sprintf("batch %d", len(f.batches))
		f.batches = append(f.batches, len(f.parts))
	}
	p.header = table{} // parsed again when it is read
	f.parts = append(f.parts, p)
}

// openFile finds the messages of a file by its footer.
func (f *File) openFile(b []byte, opt Options) error {
	const head, tail = len(magic) + 2, len(magic) + 4
	if len(b) < head+tail || string(b[len(b)-len(magic):]) != magic {
		return corrupt("got %d bytes that do not end with %s: the file was cut, or never closed", len(b), magic)
	}
	end := len(b) - tail
	size := int(int32(le.Uint32(b[end:])))
	if size < 4 || size > end-head {
		return corrupt("got a footer of %d bytes in a file of %d bytes", size, len(b))
	}
	end -= size
	flat := newFlat(slices.Clone(b[end : end+size]))
	root := flat.root()
	schema, ok := root.sub(1)
	if flat.err == nil && !ok {
		flat.fail("got no schema")
	}
	if flat.err != nil {
		return flat.err
	}
	var err error
	if f.decoder, err = newDecoder(schema, opt); err != nil {
		return err
	}
	left := int64(end - head)
	err = f.blocks(b[:end], root, 2, kindDictionary, &left)
	if err == nil {
		err = f.blocks(b[:end], root, 3, kindBatch, &left)
	}
	return err
}

// blocks finds the messages of a kind, which the footer lists in a vector. They are in b, and left
// is the number of bytes that no block has so far.
func (f *File) blocks(b []byte, footer table, slot, kind int, left *int64) error {
	pos, n := footer.vector(slot, 24)
	if err := footer.f.err; err != nil {
		return err
	}
	for i := range n {
		block := footer.f.b[pos+24*i:]
		offset, meta, body := int64(le.Uint64(block)), int64(int32(le.Uint32(block[8:]))), int64(le.Uint64(block[16:]))
		all := int64(len(b))
		if offset < 8 || offset%8 != 0 || meta < 8 || body < 0 || offset > all || meta > all-offset || body > all-offset-meta {
			return corrupt("got a message of %d and %d bytes at byte %d, want it before the footer, at byte %d", meta, body, offset, all)
		}
		if *left -= meta + body; *left < 0 {
			return corrupt("the messages have more bytes than the file")
		}
		p := part{message: message{kind: kind}, name: "dictionary"}
		p.raw, p.body = b[offset:][:meta:meta], b[offset+meta:][:body:body]
		f.add(p)
	}
	return nil
}

// Len returns the number of batches.
func (f *File) Len() int { return len(f.batches) }

// Batch returns the selected columns of a batch; 0 <= i < f.Len(). It is valid until the next call:
// arrays alias the bytes of the file, or memory that is used again. Nobody needs to release it.
func (f *File) Batch(i int) (arrow.RecordBatch, error) {
	end := f.batches[i]
	if f.at > end {
		f.at = 0
		f.forget()
	}
	for ; f.at < end; f.at++ {
		if err := f.dictionaryAt(f.at); err != nil {
			return nil, err
		}
	}
	p, err := f.part(end)
	if err != nil {
		return nil, err
	}
	rec, err := f.record(p)
	return rec, In(f.opt.Path, p.name, "", err)
}

// Select is as for a [Stream].
func (f *File) Select(columns []int) *arrow.Schema {
	f.at = 0
	return f.decoder.Select(columns)
}

// dictionaryAt reads a part if it is a dictionary.
func (f *File) dictionaryAt(i int) error {
	if f.parts[i].kind != kindDictionary {
		return nil
	}
	p, err := f.part(i)
	if err != nil {
		return err
	}
	return In(f.opt.Path, p.name, "", f.dictionary(p, false, f.stream))
}

// part returns a part, parsed.
func (f *File) part(i int) (part, error) {
	p := f.parts[i]
	err := p.unframe(f.stream)
	if err == nil {
		err = p.parse()
	}
	if err == nil && (p.kind != f.parts[i].kind || p.message.body != int64(len(p.body))) {
		err = corrupt("got kind %d and a body of %d bytes, want kind %d and %d bytes",
			p.kind, p.message.body, f.parts[i].kind, len(p.body))
	}
	return p, In(f.opt.Path, p.name, "", err)
}

// unframe cuts the length off a message that the footer lists; messages of a stream have none.
func (p *part) unframe(stream bool) error {
	if stream {
		return nil
	}
	head := 4
	if le.Uint32(p.raw) == continuation {
		head = 8
	}
	size := int(int32(le.Uint32(p.raw[head-4:])))
	if size < 4 || size > len(p.raw)-head {
		return corrupt("got a message of %d bytes in %d bytes", size, len(p.raw)-head)
	}
	p.raw = p.raw[head : head+size]
	return nil
}
