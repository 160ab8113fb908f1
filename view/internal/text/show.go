package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Run is a piece of a text.
type Run struct {
	Text    string
	Escaped bool // Text spells characters that are not shown as they are
}

// A Text is a text that is safe to show.
type Text struct {
	Runs []Run
	Left int // bytes that were cut from the end
}

// empty is the only run of the empty text. Other escaped runs begin with a backslash.
var empty = Run{`""`, true}

// Show returns at most the first most bytes of s, cut between two characters. These are escaped, as
// Go spells them:
//
//   - control and format characters (Cc, Cf), with the marks and overrides of direction: \n, \u202e
//   - the separators U+2028 and U+2029
//   - bytes that are not UTF-8: \xff
//
// The joiners U+200C and U+200D stay, since scripts and emoji need them. The empty text is "" as an
// escaped run. Show reads only the bytes that it shows.
func Show(s string, most int) Text { return show(s, most, math.MaxInt) }

// ShowRunes is as [Show], but shows at most the first most characters of s. A byte that is not
// UTF-8 counts as one.
func ShowRunes(s string, most int) Text {
	if s != "" && strings.TrimSpace(s) == "" {
		return Text{Runs: []Run{{strconv.QuoteToASCII(s[:min(len(s), most)]), true}}, Left: max(0, len(s)-most)}
	}
	return show(s, math.MaxInt, most)
}

// show shows the beginning of s, which has at most the given numbers of bytes and of runes.
func show(s string, bytes, runes int) Text {
	if s == "" {
		return Text{Runs: []Run{empty}}
	}
	var t Text
	from, at, escaping := 0, 0, false
	for ; at < len(s) && runes > 0; runes-- {
		r, size := utf8.DecodeRuneInString(s[at:])
		if at+size > bytes {
			break
		}
		if escapes := hidden(r, size); escapes != escaping {
			t.add(s[from:at], escaping)
			from, escaping = at, escapes
		}
		at += size
	}
	t.add(s[from:at], escaping)
	t.Left = len(s) - at
	return t
}

// add adds a run for a part of the text.
func (t *Text) add(part string, escape bool) {
	if part == "" {
		return
	}
	if escape {
		quoted := strconv.QuoteToASCII(part)
		part = quoted[1 : len(quoted)-1]
	}
	t.Runs = append(t.Runs, Run{part, escape})
}

// hidden reports whether a rune, which was decoded from size bytes, is escaped.
func hidden(r rune, size int) bool {
	switch r {
	case utf8.RuneError:
		return size == 1
	case '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Empty reports whether t shows the empty text.
func (t Text) Empty() bool { return len(t.Runs) == 1 && t.Runs[0] == empty }

// ASCII reports whether all of t is printable ASCII that is shown as it is.
func (t Text) ASCII() bool {
	if len(t.Runs) != 1 || t.Runs[0].Escaped {
		return false
	}
	for _, b := range []byte(t.Runs[0].Text) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// String returns the text of the runs, with "…" at the end if it was cut, for titles and
// attributes.
func (t Text) String() string {
	var b strings.Builder
	for _, run := range t.Runs {
		b.WriteString(run.Text)
	}
	if t.Left > 0 {
		b.WriteString("…")
	}
	return b.String()
}

// Hex describes size bytes, given the first of them: 29 bytes: 00 ff ….
func Hex(first []byte, size int) string {
	const most = 16
	text := Count(size) + " bytes"
	if size == 1 {
		text = "1 byte"
	}
	if len(first) > 0 {
		text += fmt.Sprintf(": % x", first[:min(len(first), most)])
	}
	if size > most {
		text += " …"
	}
	return text
}
