package jsonlists

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// AppendText appends a JSON string, with only the escapes that JSON requires. Bytes that are not
// UTF-8 become U+FFFD.
func AppendText[T string | []byte](b []byte, text T) []byte {
	b = append(b, '"')
	for i := 0; i < len(text); {
		from := i
		for i < len(text) && plain(text[i]) {
			i++
		}
		if b = append(b, text[from:i]...); i == len(text) {
			break
		}
		if c := text[i]; c < utf8.RuneSelf {
			b = appendByte(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(string(text[i:min(i+utf8.UTFMax, len(text))]))
		b = utf8.AppendRune(b, r)
		i += n
	}
	return append(b, '"')
}

// plain reports whether c is an ASCII character that needs no escape.
func plain(c byte) bool { return c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' }

// appendByte appends an ASCII character of a string.
func appendByte(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, `\n`...)
	case '\r':
		return append(b, `\r`...)
	case '\t':
		return append(b, `\t`...)
	case '\b':
		return append(b, `\b`...)
	case '\f':
		return append(b, `\f`...)
	}
	if c >= 0x20 {
		return append(b, c)
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// AppendInts appends a list of integers.
func AppendInts(b []byte, list []int) []byte {
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

// ReadSizes reads a list of at most [MaxDims] integers, none negative.
func ReadSizes(s *jsonscan.Scanner) ([]int, error) {
	list := []int{}
	err := s.Array(func(i int) error {
		n, err := s.Int()
		if err == nil && n < 0 {
			err = fmt.Errorf("%w: got size %d, want none negative", jsonscan.ErrSyntax, n)
		}
		if i == MaxDims {
			err = fmt.Errorf("%w: got more than %d dims", jsonscan.ErrSyntax, MaxDims)
		}
		list = append(list, int(n))
		return err
	})
	return list, err
}
