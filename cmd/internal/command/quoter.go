package command

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A quoter writes text. It quotes control characters, other characters that are not printable, and
// bytes that are not UTF-8, as Go does. Newlines and tabs stay. Safe for concurrent use.
type quoter struct {
	to   io.Writer
	mu   sync.Mutex
	rest []byte // an incomplete character
}

func (q *quoter) Write(text []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	clean, rest := quoted(nil, append(q.rest, text...))
	q.rest = rest
	if _, err := q.to.Write(clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

// quoted appends text to clean. It returns the incomplete character at the end of text, if any, as
// rest.
func quoted(clean, text []byte) (_, rest []byte) {
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			clean = fmt.Appendf(clean, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			clean = append(clean, text[:size]...)
		default:
			clean = append(clean, strings.Trim(strconv.QuoteRune(r), "'")...)
		}
		text = text[size:]
	}
	return clean, text
}
