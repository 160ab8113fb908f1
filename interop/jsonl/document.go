package jsonl

import (
	"bytes"
	"fmt"
	"io"
)

// A document reads JSON as lines with an object each. It returns lines unchanged, and makes a line
// of each element of an array and of each object of several lines. The first bytes say which.
//
// If the text is not lines, a '\n' ends each value, and a '\r' replaces each line end, so that
// lines can be counted. A document says to a table.Splitter where rows end.
type document struct {
	r     io.Reader
	text  []byte // converted, and not yet read
	raw   []byte // a buffer for r
	out   []byte // the memory of text
	err   error  // of r
	bad   error  // of the text
	begun bool

	values bool // the text is not lines
	array  bool // it is an array
	at     place
	line   int // of the next byte
	depth  int // of lists and objects, without the array
	quoted bool
	escape bool // the last byte was a \ in quotes
}

// A place is where a document is, at depth 0.
type place uint8

const (
	first  place = iota // before the first value
	word                // in a value that is not an object, a list or a string
	after               // after a value
	comma               // after a comma
	closed              // after the array
)

// mostHead is the number of bytes after which an object that is not finished is one line.
const mostHead = 1 << 16

func newDocument(r io.Reader) *document { return &document{r: r, line: 1} }

// Read reads lines.
func (d *document) Read(p []byte) (int, error) {
	if !d.begun {
		d.begin()
	}
	for d.values && len(d.text) == 0 && d.bad == nil && d.err == nil {
		var n int
		n, d.err = d.r.Read(d.raw)
		d.out = d.out[:0]
		d.convert(d.raw[:n])
	}
	switch {
	case len(d.text) > 0:
		n := copy(p, d.text)
		d.text = d.text[n:]
		return n, nil
	case d.bad != nil:
		return 0, d.bad
	case d.err == io.EOF && d.array && d.at != closed:
		return 0, d.fail("the array has no end: the file is cut, get it again")
	case d.err != nil:
		return 0, d.err
	}
	return d.r.Read(p)
}

// begin finds out whether the text is lines.
func (d *document) begin() {
	d.begun = true
	const step = 4 << 10
	var head []byte
	var x document
	for decided := false; !decided && d.err == nil && len(head) < mostHead; {
		from := len(head)
		head = append(head, make([]byte, step)...)
		var n int
		n, d.err = d.r.Read(head[from:])
		head = head[:from+n]
		decided = d.decide(head[from:], &x)
	}
	if !d.values {
		d.text = head
		return
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	if d.array {
		i := bytes.IndexByte(head, '[')
		d.line += bytes.Count(head[:i], []byte{'\n'})
		d.out = append(d.out, bytes.Repeat([]byte{'\r'}, d.line-1)...)
		head = head[i+1:]
	}
	d.raw = make([]byte, 32<<10)
	d.convert(head)
}

// decide sets values and array, and reports whether the bytes up to a part say them. x has followed
// the bytes before it.
func (d *document) decide(part []byte, x *document) bool {
	for i, c := range part {
		switch {
		case x.depth > 0 && c == '\n':
			d.values = !x.quoted
			return true
		case x.depth > 0:
		case bytes.IndexByte([]byte(" \t\r\n\ufeff"), c) >= 0:
			continue
		case c != '{':
			d.array = c == '['
			d.values = d.array
			return true
		}
		x.out = x.out[:0]
		if x.convert(part[i : i+1]); x.depth == 0 {
			return true
		}
	}
	return false
}

// fail returns an error at the current line.
func (d *document) fail(what string) error {
	return &ParseError{Line: d.line, Err: fmt.Errorf("%w: %s", ErrSyntax, what)}
}

// special has the bytes outside of and in quotes that convert looks at.
var special [2][256]bool

func init() {
	for _, c := range "{}[]\"\r\n" {
		special[0][c] = true
	}
	for _, c := range "\\\"\r\n" {
		special[1][c] = true
	}
}

// convert appends the lines of a part to the text.
func (d *document) convert(part []byte) {
	for i := 0; i < len(part) && d.bad == nil; {
		from := i
		if d.depth > 0 || d.quoted {
			stops := &special[0]
			if d.quoted {
				stops = &special[1]
			}
			if d.escape && part[i] != '\n' && part[i] != '\r' {
				d.escape = false
				i++
			}
			for i < len(part) && !stops[part[i]] {
				i++
			}
			d.out = append(d.out, part[from:i]...)
			if i == len(part) {
				break
			}
		}
		d.byte(part[i])
		i++
	}
	d.text = d.out
}

// byte converts a byte.
func (d *document) byte(c byte) {
	switch {
	case c == '\n':
		d.line++
		d.end(word)
		d.out = append(d.out, '\r')
		return
	case c == '\r':
		c = '\t' // a space too, and invalid in quotes too
	case d.quoted:
		d.escape = c == '\\'
		d.quoted = c != '"'
	case d.depth == 0 && !d.outside(c):
		return
	case c == '"':
		d.quoted = true
	case c == '{' || c == '[':
		d.depth++
	case c == '}' || c == ']':
		d.depth--
	}
	d.out = append(d.out, c)
	if c == '"' || c == '}' || c == ']' {
		d.end(after)
	}
}

// end ends the value at depth 0, if d is at its end. at is word before a space.
func (d *document) end(at place) {
	if d.depth > 0 || d.quoted || at == word && d.at != word {
		return
	}
	d.at = after
	d.out = append(d.out, '\n')
}

// outside follows a byte that is in no value, or in a word. It reports whether the byte is a part
// of the lines.
func (d *document) outside(c byte) bool {
	switch {
	case c == ' ' || c == '\t':
		d.end(word)
		return true
	case d.array && c == ',':
		d.end(word)
		if d.at != after {
			d.bad = d.fail("want a value before ','")
		}
		d.at = comma
		return false
	case d.array && c == ']' && d.at != closed:
		d.end(word)
		if d.at == comma {
			d.bad = d.fail("want a value after ','")
		}
		d.at = closed
		return false
	case d.at == closed:
		d.bad = d.fail("trailing data after the array")
		return false
	case d.array && d.at == after:
		d.bad = d.fail("want ',' or ']' after a value")
		return false
	case c == '}' || c == ']':
		d.bad = d.fail(fmt.Sprintf("got '%c' before a value", c))
		return false
	}
	d.at = word
	return true
}

// Ends returns true: each line is a row.
func (*document) Ends([]byte, bool) bool { return true }

// Skips reports whether a line is blank.
func (*document) Skips(line []byte) bool { return blank(line) }

// Lines returns the number of line ends in a part of the text.
func (d *document) Lines(part []byte) int { return bytes.Count(part, d.mark()) }

// mark replaces a line end.
func (d *document) mark() []byte {
	if d.values {
		return []byte{'\r'}
	}
	return []byte{'\n'}
}

// blank reports whether a line consists of white space.
func blank(line []byte) bool {
	if len(line) > 0 && line[0] > ' ' {
		return false
	}
	return len(bytes.TrimLeft(line, " \t\r\n")) == 0
}
