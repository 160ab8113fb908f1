package jsonlists

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// appendElem appends an element as JSON: complex numbers, NaN and infinities as strings.
func appendElem(b []byte, e *elemtext.Elem, data []byte) []byte {
	if e.Kind == elemtext.Complex {
		return append(e.Append(append(b, '"'), data), '"')
	}
	from := len(b)
	b = e.Append(b, data)
	if e.Kind == elemtext.Float && b[len(b)-1] > '9' { // a word
		b = append(slices.Insert(b, from, '"'), '"')
	}
	return b
}

// readElem reads the output of appendElem, and infinities as Data writes them. It appends the
// element to data.
func readElem(s *jsonscan.Scanner, e *elemtext.Elem, data []byte) ([]byte, error) {
	var text []byte
	var err error
	switch {
	case e.Kind == elemtext.Bool:
		v, err := s.Bool()
		if v {
			return append(data, 1), err
		}
		return append(data, 0), err
	case e.Kind == elemtext.Complex:
		text, err = s.Text()
	case e.Kind == elemtext.Float && s.Next() == '"':
		if text, err = s.Text(); err == nil && !jsonscan.IsWord(text) {
			err = refused(text, `a number, "NaN", "+Inf" or "-Inf"`)
		}
	default:
		text, err = Number(s)
	}
	if err != nil {
		return data, err
	}
	data, ok := e.Parse(data, text)
	if !ok {
		return data, refused(text, e.Want)
	}
	return data, nil
}

// Number reads the text of a number. It refuses the words NaN and Infinity, which are not JSON.
func Number(s *jsonscan.Scanner) ([]byte, error) {
	first := s.Next()
	text, err := s.Raw()
	if err == nil && (first != '-' && (first < '0' || first > '9') || len(text) > 1 && text[1] == 'I') {
		err = refused(text, "a number")
	}
	return text, err
}

// refused returns an error for a text other than want.
func refused(text []byte, want string) error {
	return fmt.Errorf("%w: got %.40s, want %s", jsonscan.ErrSyntax, text, want)
}
