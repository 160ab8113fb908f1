package csv

import (
	"fmt"
	"math"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// A seen counts the fields of a column by their types.
type seen struct {
	header string
	key    nestedkey.Key
	filled bool

	table.Guess           // of the other fields
	none, quoted      int // missing fields, without and with quotes
	shortest, longest int // lengths of texts in bytes
	distinct          map[string]bool

	entry tdict.Spec // that the column became
	why   string     // it is not what most values are, or ""
}

// newSeen returns an empty seen for a column, which may be an element of an entry.
func (in *Inferrer) newSeen(header string, key nestedkey.Key) *seen {
	s := &seen{header: header, key: key, shortest: math.MaxInt, distinct: map[string]bool{}}
	keys := []nestedkey.Key{key}
	name, _ := cutIndex(header)
	if whole := in.format.key(name); !in.taken.entries[whole] {
		keys = append(keys, whole)
	}
	for _, key := range keys {
		_, filled := in.format.Fill[key]
		s.filled = s.filled || filled
	}
	s.Guess = in.Hints.Guess(keys...)
	return s
}

// someTexts is the largest number of distinct texts to count.
const someTexts = 100

// add counts a field. It returns [ErrValue] for a field that does not fit a hint.
func (s *seen) add(in *Inferrer, field []byte, quoted bool) error {
	na := in.na.has(field)
	switch {
	case na && !quoted:
		s.none++
		return nil
	case na:
		s.quoted++
	}
	s.shortest, s.longest = min(s.shortest, len(field)), max(s.longest, len(field))
	if _, counted := s.Categories(); !counted && len(s.distinct) <= someTexts && len(field) <= 1000 && !s.distinct[string(field)] {
		s.distinct[string(field)] = true
	}
	if na && !s.IsText() {
		return nil
	}
	plain, number := field, true
	if in.numbers.used() && s.MayBeNumber() {
		plain, number = in.numbers.read(field)
		if !number && s.IsNumber() {
			return in.numbers.refused(field)
		}
	}
	taken, err := s.Hinted(plain, in.scan.fieldLine)
	switch {
	case taken:
	case number:
		s.scalar(plain, quoted, in.scan.fieldLine)
	default:
		s.Text(field, in.scan.fieldLine)
	}
	return err
}

// scalar counts a value by its type.
func (s *seen) scalar(field []byte, quoted bool, line int) {
	if len(field) >= len("2006-01-02") && field[4] == '-' && field[7] == '-' { // no number has them
		s.Text(field, line)
		return
	}
	digits := table.Unsigned(field)
	zeros := len(digits) > 1 && digits[0] == '0' && digits[1] != '.' && digits[1]|0x20 != 'e' // 007, 0x1p-2
	switch {
	case isBool(field):
		s.Bools++
	case isWord(field, digits):
		s.Word(field, line, !quoted && table.IsWord(field))
	case len(digits) == 0 || digits[0] > '9' || zeros || !s.Number(field, line):
		s.Text(field, line)
	}
}

// isBool reports whether a field is true or false, also in capitals.
func isBool(field []byte) bool {
	if n := len(field); n != len("true") && n != len("false") || field[0]|0x20 != 't' && field[0]|0x20 != 'f' {
		return false // strconv's errors allocate
	}
	_, err := strconv.ParseBool(string(field))
	return err == nil
}

// isWord reports whether a field, without its sign digits, is NaN or an infinity.
func isWord(field, digits []byte) bool {
	if len(digits) == 0 || len(digits) > len("infinity") || digits[0]|0x20 != 'i' && digits[0]|0x20 != 'n' {
		return false // strconv's errors allocate
	}
	_, err := strconv.ParseFloat(string(field), 64)
	return err == nil
}

// spec proposes an entry for a column, or for several merged columns, with fields fields. It says
// why the type is not the type of most values.
func (s *seen) spec(fields int) (spec tdict.Spec, why string) {
	spec = tdict.Spec{Key: s.key}
	what, why := s.Propose(&spec)
	if what == "" {
		what = s.describe()
	}
	none := s.none
	if spec.Kind != tdict.KindText && spec.Categories == nil {
		none += s.quoted
	}
	spec.Doc = fmt.Sprintf("%d of %d fields: %s", fields-none, fields, what)
	if why != "" {
		spec.Doc += "; " + why
	}
	spec.Optional = none > 0 && !s.filled
	return spec, why
}

// describe returns the lengths and the number of distinct texts, for the Doc.
func (s *seen) describe() string {
	if s.longest < s.shortest {
		return "no values, as text"
	}
	n, all := s.Categories()
	if !all {
		n = len(s.distinct)
	}
	distinct := strconv.Itoa(n)
	if !all && n > someTexts {
		distinct = "more than " + strconv.Itoa(someTexts)
	}
	return fmt.Sprintf("texts of %d to %d bytes, %s distinct", s.shortest, s.longest, distinct)
}

// title names the column, for people.
func (s *seen) title() string {
	if s.entry.Key == s.key && s.key != nestedkey.Of(s.header) {
		return fmt.Sprintf("column %s, entry %s", errtext.Quote(s.header), errtext.Quote(string(s.key)))
	}
	return "column " + errtext.Quote(s.header)
}

// become describes the entry that the column becomes.
func (s *seen) become() string {
	switch e := s.entry; {
	case e.Kind == tdict.KindText:
		return "text"
	case e.Time != "":
		return fmt.Sprintf("%v of times as %s in %s", e.DType, e.Time, e.Unit)
	case e.Categories != nil:
		return fmt.Sprintf("%v of %d categories", e.DType, len(e.Categories))
	default:
		return e.DType.String()
	}
}

// merge adds the fields of another column.
func (s *seen) merge(other *seen) {
	s.none, s.quoted = s.none+other.none, s.quoted+other.quoted
	s.Guess.Merge(&other.Guess)
	s.shortest, s.longest = min(s.shortest, other.shortest), max(s.longest, other.longest)
	for text := range other.distinct {
		s.distinct[text] = true
	}
}
