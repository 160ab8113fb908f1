package csv

import (
	"bytes"
	"io"
)

// An endReader replaces CRLF, and each CR by itself, by LF, except in quotes. So lines may end with
// CR, CRLF or LF, all three in one file.
type endReader struct {
	r       io.Reader
	comment byte // begins a line in which quotes do not count, or 0
	begun   bool // past the position of a byte order mark
	quoted  bool // the next byte is in quotes
	inLine  bool // the next byte does not begin a line; only if there are comments
	skipped bool // the next byte is in a comment
	cr      bool // the last byte was a CR outside of quotes
}

func (e *endReader) Read(p []byte) (n int, err error) {
	for {
		n, err = e.r.Read(p)
		if n = e.replace(p[:n]); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// replace replaces line ends in p, and returns the new length.
func (e *endReader) replace(p []byte) int {
	if !e.cr && len(p) > 0 && bytes.IndexByte(p, '\r') < 0 {
		e.pass(p)
		return len(p)
	}
	to := 0
	for rest := p; len(rest) > 0; {
		if e.cr && rest[0] == '\n' {
			e.cr, rest = false, rest[1:]
			continue
		}
		n := bytes.IndexByte(rest, '\r')
		part := rest[:max(0, n)]
		if n < 0 {
			part = rest
		}
		if e.cr = false; len(part) > 0 {
			e.pass(part)
		}
		if to += copy(p[to:], part); n < 0 {
			break
		}
		if p[to] = '\r'; !e.quoted {
			p[to], e.cr, e.inLine, e.skipped = '\n', true, false, false
		}
		to, rest = to+1, rest[n+1:]
	}
	return to
}

// pass follows quotes and comments through a text without CR.
func (e *endReader) pass(text []byte) {
	if !e.begun {
		text, e.begun = bytes.TrimPrefix(text, []byte("\ufeff")), true
	}
	for e.comment != 0 && len(text) > 0 {
		line := text
		n := bytes.IndexByte(text, '\n')
		if n >= 0 {
			line = text[:n]
		}
		if !e.inLine && !e.quoted {
			e.skipped = len(line) > 0 && line[0] == e.comment
		}
		if !e.skipped {
			e.count(line)
		}
		if e.inLine = n < 0; e.inLine {
			return
		}
		e.skipped, text = false, text[n+1:]
	}
	e.count(text)
}

// count counts quotes.
func (e *endReader) count(text []byte) {
	e.quoted = e.quoted != (bytes.Count(text, []byte{'"'})%2 == 1)
}
