package mongowire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// errFrame says that bytes are not a valid message. The connection ends.
var errFrame = errors.New("invalid message")

func badFrame(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errFrame}, args...)...)
}

// The opcodes of messages.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
)

// Flags of OP_MSG. Readers ignore unknown flags from 1<<16 on, and refuse the others.
const (
	checksummed = 1 << 0
	moreToCome  = 1 << 1
)

const (
	headerBytes  = 16
	maxMessage   = 48_000_000 // as hello announces
	maxDocument  = 16 * mib
	maxDocuments = 100_000 // in a message
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// A header is the beginning of a message.
type header struct{ size, id, to, op int32 }

func parseHeader(b []byte) header {
	return header{int32(le.Uint32(b)), int32(le.Uint32(b[4:])), int32(le.Uint32(b[8:])), int32(le.Uint32(b[12:]))}
}

// appendTo appends the bytes of a header.
func (h header) appendTo(b []byte) []byte {
	for _, n := range []int32{h.size, h.id, h.to, h.op} {
		b = le.AppendUint32(b, uint32(n))
	}
	return b
}

// A message is a command that a client has sent.
type message struct {
	id     int32
	legacy bool     // an OP_QUERY, which OP_REPLY answers
	silent bool     // without a reply
	body   bson.Doc // the command, with its database as "$db"
	field  string   // the name of the sequence after the command, or ""
	docs   []bson.Doc
}

// parse returns the message of a header and all bytes of the message.
func parse(h header, b []byte) (message, error) {
	m := message{id: h.id}
	var err error
	switch h.op {
	case opMsg:
		err = m.parse(b)
	case opQuery:
		err = m.parseQuery(b[headerBytes:])
	default:
		err = badFrame("opcode %d", h.op)
	}
	return m, err
}

// parse reads an OP_MSG: flags, sections and perhaps a checksum of all before it.
func (m *message) parse(b []byte) error {
	if len(b) < headerBytes+4 {
		return badFrame("%d bytes", len(b))
	}
	flags := le.Uint32(b[headerBytes:])
	if flags&0xffff&^(checksummed|moreToCome) != 0 {
		return badFrame("flags %#x", flags)
	}
	m.silent = flags&moreToCome != 0
	if flags&checksummed != 0 {
		end := len(b) - 4
		if end < headerBytes+4 || crc32.Checksum(b[:end], castagnoli) != le.Uint32(b[end:]) {
			return badFrame("wrong checksum")
		}
		b = b[:end]
	}
	for b = b[headerBytes+4:]; len(b) > 0; {
		var err error
		if b, err = m.section(b[0], b[1:]); err != nil {
			return err
		}
	}
	if m.body == nil {
		return badFrame("no command")
	}
	return nil
}

// section reads a section, and returns the bytes after it.
func (m *message) section(kind byte, b []byte) (rest []byte, err error) {
	switch {
	case kind == 0 && m.body == nil:
		m.body, rest, err = bson.Cut(b)
		return rest, err
	case kind == 1 && m.field == "":
		size := 0
		if len(b) >= 4 {
			size = int(le.Uint32(b))
		}
		if size < 6 || size > len(b) {
			return nil, badFrame("a sequence of %d bytes", size)
		}
		return b[size:], m.sequence(b[4:size])
	}
	return nil, badFrame("section of kind %d", kind)
}

// sequence reads the name of a field and the documents that follow it.
func (m *message) sequence(b []byte) error {
	name, b, ok := cutText(b)
	if !ok || name == "" {
		return badFrame("a sequence without a name")
	}
	m.field = name
	for len(b) > 0 {
		doc, rest, err := bson.Cut(b)
		switch {
		case err != nil:
			return err
		case len(m.docs) == maxDocuments:
			return badFrame("more than %d documents", maxDocuments)
		}
		m.docs, b = append(m.docs, doc), rest
	}
	return nil
}

// parseQuery reads an OP_QUERY, which drivers send as the first hello: flags, "admin.$cmd", two
// numbers and a document.
func (m *message) parseQuery(b []byte) error {
	m.legacy = true
	if len(b) < 4 {
		return badFrame("a query of %d bytes", len(b))
	}
	name, b, ok := cutText(b[4:])
	if !ok || name != "admin.$cmd" || len(b) < 8 {
		return badFrame("a query of a collection other than admin.$cmd")
	}
	doc, err := bson.Parse(b[8:])
	m.body = doc
	return err
}

// cutText returns the text before the first zero byte, and the bytes after it.
func cutText(b []byte) (text string, rest []byte, ok bool) {
	for i, c := range b {
		if c == 0 {
			return string(b[:i]), b[i+1:], true
		}
	}
	return "", nil, false
}
