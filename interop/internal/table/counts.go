package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/tensor"
)

// Counts are the numbers of values of a column by their types, from which [Counts.DType] proposes
// a dtype. The zero Counts are ready for use.
type Counts struct {
	Bools, Ints, Floats int
	Beyond              int // numbers that float64 rounds to infinity or to 0
	Words               int // texts that are NaN or an infinity
	Texts               int // other texts

	ours             int  // words as Write spells them
	signed, unsigned bool // there are integers with a sign; beyond int64
	dotted           bool // there are whole numbers such as 1.0
	low, high        extreme
	// the first value of its kind: an integer beyond uint64, a number that float64 changes, one
	// that is not an integer, one that is Beyond, one that float32 makes 0, a text that is not a
	// date, a number
	huge, rounded, fraction, beyond, tiny, text, some spelling

	dates []dates // among the texts
	last  int     // the index in dates of the last one
	zones int     // dates with a zone other than Z, among the texts
	zone  spelling
	odds  int // texts such as 007 and 0x10, as long as there are no others
	odd   spelling
}

// An extreme is an extreme number and its spelling.
type extreme struct {
	value float64
	text  string
}

// A spelling is a value and its line, or the zero spelling for none.
type spelling struct {
	text string
	line int
}

// longest is the largest number of bytes of a spelling.
const longest = 40

// note keeps the first value.
func (s *spelling) note(text []byte, line int) {
	if s.line == 0 {
		*s = spelling{errtext.Cut(string(text), longest), line}
	}
}

func (s spelling) String() string { return fmt.Sprintf("%s in line %d", s.text, s.line) }

// Text counts a text that is neither a number nor a bool.
func (c *Counts) Text(text []byte, line int) {
	if c.Texts++; c.date(text, line) {
		return
	}
	c.text.note(text, line)
	if c.odds+1 == c.Texts && isOdd(text) {
		c.odds++
		c.odd.note(text, line)
	}
}

// isOdd reports whether a text looks like a number in a notation that Number does not take, or that
// a number would lose.
func isOdd(text []byte) bool {
	if digits := Unsigned(text); len(digits) == 0 || digits[0] > '9' {
		return false
	}
	plain := strings.ReplaceAll(string(text), "_", "")
	_, err := strconv.ParseFloat(plain, 64)
	if err != nil {
		_, err = strconv.ParseInt(plain, 0, 64)
	}
	return !errors.Is(err, strconv.ErrSyntax)
}

// Word counts a text that is NaN or an infinity. ours is whether Write spells a float so.
func (c *Counts) Word(text []byte, line int, ours bool) {
	if c.Words++; ours {
		c.ours++
	}
	c.fraction.note(text, line)
}

// Number counts a number in any decimal notation of strconv.ParseFloat. It returns false, and
// counts nothing, for another text.
func (c *Counts) Number(text []byte, line int) bool {
	if d, ok := elemtext.ParseDecimal(text); ok {
		c.decimal(d, text, line)
		return true
	}
	if !numeric(text) {
		return false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if errors.Is(err, strconv.ErrSyntax) {
		return false
	}
	digits := Unsigned(text)
	if err != nil || vanishes(v, digits) {
		c.Beyond++
		c.beyond.note(text, line)
		return true
	}
	whole := digits[0] <= '9' && !bytes.ContainsAny(digits, ".eE")
	c.number(v, whole, text, line)
	if whole { // of more digits than a Decimal has
		c.integer(text, line)
	}
	return true
}

// numeric reports whether a text may be a number: strconv's errors allocate.
func numeric(text []byte) bool {
	if digits := Unsigned(text); len(digits) > 0 && digits[0] > '9' { // Infinity
		return len(digits) <= len("Infinity")
	}
	exponent := true // a sign may follow
	for _, c := range text {
		switch {
		case (c == '+' || c == '-') && !exponent:
			return false
		case c != '.' && c != '+' && c != '-' && c|0x20 != 'e' && (c < '0' || c > '9'):
			return false
		}
		exponent = c|0x20 == 'e'
	}
	return true
}

// decimal counts a number of at most 19 digits.
func (c *Counts) decimal(d elemtext.Decimal, text []byte, line int) {
	c.number(d.Float64(), d.Point < 0, text, line)
	switch {
	case d.Point >= 0:
	case d.Digits <= math.MaxInt64:
		c.signed = c.signed || len(Unsigned(text)) < len(text)
	default:
		c.integer(text, line)
	}
}

// number counts a number with its value in float64.
func (c *Counts) number(v float64, whole bool, text []byte, line int) {
	if v-v == 0 {
		c.extremes(extreme{value: v}, text)
	}
	c.some.note(text, line)
	if float32(v) == 0 && v != 0 {
		c.tiny.note(text, line)
	}
	if c.rounded.line == 0 && rounds(v, Unsigned(text)) {
		c.rounded.note(text, line)
	}
	if whole {
		c.Ints++
		return
	}
	c.Floats++
	c.fraction.note(text, line)
	c.dotted = c.dotted || v == math.Trunc(v) && bytes.IndexByte(text, '.') >= 0
}

// integer notes which dtypes hold an integer.
func (c *Counts) integer(text []byte, line int) {
	if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		c.signed = c.signed || len(Unsigned(text)) < len(text)
	} else if _, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		c.unsigned = true
	} else {
		c.huge.note(text, line)
	}
}

// Unsigned returns the text of a number without its sign.
func Unsigned(text []byte) []byte {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		return text[1:]
	}
	return text
}

// extremes keeps x if it is the least or the largest number. Its spelling is x.text, or text.
func (c *Counts) extremes(x extreme, text []byte) {
	least, largest := c.low.text == "" || x.value < c.low.value, c.high.text == "" || x.value > c.high.value
	if (least || largest) && x.text == "" {
		x.text = errtext.Cut(string(text), longest)
	}
	if least {
		c.low = x
	}
	if largest {
		c.high = x
	}
}

// whole reports whether all numbers are integers.
func (c *Counts) whole() bool { return c.Floats+c.Words == 0 }

// DType returns the dtype that holds each value, and a description of the values. Without such a
// dtype it returns 0 and "".
func (c *Counts) DType() (tensor.DType, string) {
	numbers := c.Ints + c.Floats
	extremes := "from " + c.low.text + " to " + c.high.text
	switch {
	case c.Texts+c.Beyond > 0,
		c.Bools > 0 && numbers+c.Words > 0,
		c.Bools+numbers == 0 && (c.Words == 0 || c.ours < c.Words),
		c.whole() && (c.huge.line > 0 || c.unsigned && c.signed),
		!c.whole() && c.rounded.line > 0: // no dtype holds each digit
		return 0, ""
	case c.Bools > 0:
		return tensor.Bool, "true or false"
	case c.whole() && c.unsigned:
		return tensor.Uint64, "integers " + extremes
	case c.whole():
		return tensor.Int64, "integers " + extremes
	case c.low.text == "":
		return tensor.Float64, "no numbers but NaN and infinities"
	}
	return tensor.Float64, "numbers " + extremes
}

// Bare reports whether whole numbers are spelled as integers, among numbers that are not whole.
func (c *Counts) Bare() bool { return !c.whole() && c.Ints > 0 && !c.dotted }

// Why returns why no dtype holds each value of a column that is mostly numbers or dates. For other
// columns it returns "".
func (c *Counts) Why() string {
	if why := c.whyNotDates(); why != "" {
		return why
	}
	numbers := c.Ints + c.Floats
	switch {
	case c.Texts > 0 && c.Texts < numbers:
		return fmt.Sprintf("%d of %d values are not numbers%s", c.Texts, numbers+c.Texts, c.firstText().first())
	case c.Texts > 0 && c.odds == c.Texts:
		return fmt.Sprintf("a number would lose the spelling of %v", c.odd)
	case c.Bools+c.Texts > 0:
	case c.Beyond > 0:
		return fmt.Sprintf("float64 does not hold %v", c.beyond)
	case !c.whole() && c.rounded.line > 0:
		return fmt.Sprintf("float64 would round %v, and %v is not an integer", c.rounded, c.fraction)
	case c.whole() && c.huge.line > 0:
		return fmt.Sprintf("no dtype holds %v", c.huge)
	case c.whole() && c.unsigned && c.signed:
		return fmt.Sprintf("no dtype holds both %s and %s", c.low.text, c.high.text)
	}
	return ""
}

// Merge adds the values of another column.
func (c *Counts) Merge(x *Counts) {
	c.Bools, c.Ints, c.Floats = c.Bools+x.Bools, c.Ints+x.Ints, c.Floats+x.Floats
	c.Beyond, c.Words, c.Texts, c.ours = c.Beyond+x.Beyond, c.Words+x.Words, c.Texts+x.Texts, c.ours+x.ours
	c.signed, c.unsigned, c.dotted = c.signed || x.signed, c.unsigned || x.unsigned, c.dotted || x.dotted
	if x.low.text != "" {
		c.extremes(x.low, nil)
		c.extremes(x.high, nil)
	}
	c.zones, c.odds = c.zones+x.zones, c.odds+x.odds
	c.mergeDates(x)
	mine := []*spelling{&c.huge, &c.rounded, &c.fraction, &c.beyond, &c.tiny, &c.text, &c.some, &c.zone, &c.odd}
	for i, s := range []spelling{x.huge, x.rounded, x.fraction, x.beyond, x.tiny, x.text, x.some, x.zone, x.odd} {
		*mine[i] = mine[i].earlier(s)
	}
}

// IsWord reports whether a text is a float that has no digits, as [Column.Text] spells it.
func IsWord(text []byte) bool {
	switch string(text) {
	case "NaN", "+Inf", "-Inf":
		return true
	}
	return false
}

// vanishes reports whether v, which was parsed from digits, is 0 though the digits say another
// number.
func vanishes(v float64, digits []byte) bool {
	if v != 0 {
		return false
	}
	if i := bytes.IndexAny(digits, "eE"); i >= 0 {
		digits = digits[:i]
	}
	return bytes.ContainsAny(digits, "123456789")
}

// wholeFloats is the least integer after which float64 skips one.
const wholeFloats = 1 << 53

// rounds reports whether v, which was parsed from digits without a sign, has another integer part
// than the digits. Digits with an exponent never round, since programs that write floats round
// them too. Zeros after the shortest digits of v are such a spelling as well.
func rounds(v float64, digits []byte) bool {
	if v = math.Abs(v); !(v >= wholeFloats && v <= math.MaxFloat64) || bytes.ContainsAny(digits, "eE") {
		return false
	}
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	if len(bytes.TrimRight(fraction, "0")) > 0 {
		return true // v is an integer
	}
	var b [400]byte
	whole = bytes.TrimLeft(whole, "0")
	return !bytes.Equal(strconv.AppendFloat(b[:0], v, 'f', 0, 64), whole) && !bytes.Equal(strconv.AppendFloat(b[:0], v, 'f', -1, 64), whole)
}
