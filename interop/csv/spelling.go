package csv

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A numerals changes numbers with other marks than a point into numbers for package strconv, and
// back.
type numerals struct {
	decimal, thousands byte
	plain              []byte
}

func newNumerals(f *Format) *numerals { return &numerals{decimal: f.Decimal, thousands: f.Thousands} }

// used reports whether numbers have other marks than a point.
func (n *numerals) used() bool { return n.decimal != '.' || n.thousands != 0 }

// read returns a number as package strconv spells it, valid until the next call, and any other text
// unchanged. ok is false for a text that strconv could take for another number: with a point that
// is not a mark, or with groups that do not have three digits.
func (n *numerals) read(text []byte) (plain []byte, ok bool) {
	n.plain = n.plain[:0]
	group := -1 // number of digits after the last separator of thousands, or -1
	digits, fraction := 0, false
	for _, c := range text {
		switch {
		case c == n.decimal && !fraction:
			fraction, c = true, '.'
		case c == n.decimal || c == '.' && c != n.thousands:
			return nil, false
		case c == n.thousands && c != 0:
			if fraction || digits == 0 || digits > 3 || group >= 0 && group != 3 {
				return nil, false
			}
			group = 0
			continue
		case c-'0' <= 9 && group >= 0 && !fraction:
			group++
		case c-'0' <= 9:
			digits++
		case c|0x20 == 'e': // an exponent
			fraction = true
		}
		n.plain = append(n.plain, c)
	}
	return n.plain, group < 0 || group == 3
}

// refused returns ErrValue for a text that read refuses.
func (n *numerals) refused(text []byte) error {
	want := fmt.Sprintf("a number with %q before its fraction", n.decimal)
	if n.thousands != 0 {
		want += fmt.Sprintf(" and %q between groups of three digits", n.thousands)
	}
	return fmt.Errorf("%w: got %s, want %s", ErrValue, errtext.Quote(string(text)), want)
}

// write changes the point of a number.
func (n *numerals) write(number []byte) {
	if i := bytes.IndexByte(number, '.'); i >= 0 {
		number[i] = n.decimal
	}
}

// A naSet is the set of spellings of missing values.
type naSet struct {
	first [256]bool // first bytes of the spellings
	texts []string
}

func newNASet(texts []string) naSet {
	s := naSet{texts: texts}
	for _, text := range texts {
		if text != "" {
			s.first[text[0]] = true
		}
	}
	return s
}

// has reports whether a field is one of the spellings.
func (s *naSet) has(field []byte) bool {
	if len(field) > 0 && !s.first[field[0]] {
		return false
	}
	for _, text := range s.texts {
		if string(field) == text {
			return true
		}
	}
	return false
}
