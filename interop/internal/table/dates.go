package table

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/errtext"
)

// A dates counts the values of one layout of ISO 8601.
type dates struct {
	iso
	n, zeros  int // values; values whose fraction ends in 0
	first     spelling
	low, high moment
}

// A moment is a time, as its nanoseconds after sec seconds from 1970, and its text.
type moment struct {
	sec, nano int64
	text      []byte
}

// before reports whether m is before x.
func (m *moment) before(x *moment) bool { return m.sec < x.sec || m.sec == x.sec && m.nano < x.nano }

// set copies a moment.
func (m *moment) set(x *moment) { *m = moment{x.sec, x.nano, append(m.text[:0], x.text...)} }

// date counts a text that is a date or a time of ISO 8601, and that is written back unchanged. It
// returns false, and perhaps counts a zone, for another text.
func (c *Counts) date(text []byte, line int) bool {
	if last := c.last; last < len(c.dates) && c.dates[last].add(text, line) {
		return true
	}
	x, zoned := isoOf(text)
	if _, _, ok := x.parse(text[:x.length]); !ok || zoned {
		if ok {
			c.zones++
			c.zone.note(text, line)
		}
		return false
	}
	for c.last = range c.dates {
		if c.dates[c.last].iso == x {
			return c.dates[c.last].add(text, line)
		}
	}
	d := dates{iso: x}
	if !d.add(text, line) {
		return false
	}
	c.last, c.dates = len(c.dates), append(c.dates, d)
	return true
}

// mostNanos bounds the seconds from 1970 that int64 holds in nanoseconds.
const mostNanos = 1<<63/1_000_000_000 - 1

// add counts a text of the layout. It returns false for another one.
func (d *dates) add(text []byte, line int) bool {
	sec, nano, ok := d.parse(text)
	if !ok || d.digits > 6 && (sec > mostNanos || sec < -mostNanos) {
		return false
	}
	if d.digits > 0 && nano/d.step()%10 == 0 {
		d.zeros++
	}
	at := moment{sec, nano, text}
	if d.n++; d.n == 1 || at.before(&d.low) {
		d.low.set(&at)
	}
	if d.n == 1 || d.high.before(&at) {
		d.high.set(&at)
	}
	d.first.note(text, line)
	return true
}

// merge adds the values of other dates of the layout.
func (d *dates) merge(x *dates) {
	if d.n == 0 || x.low.before(&d.low) {
		d.low.set(&x.low)
	}
	if d.n == 0 || d.high.before(&x.high) {
		d.high.set(&x.high)
	}
	d.zeros += x.zeros
	if d.n += x.n; d.first.line == 0 || x.first.line < d.first.line {
		d.first = x.first
	}
}

// mergeDates adds the dates of another column.
func (c *Counts) mergeDates(x *Counts) {
	for i := range x.dates {
		to := 0
		for to < len(c.dates) && c.dates[to].iso != x.dates[i].iso {
			to++
		}
		if to == len(c.dates) {
			c.dates = append(c.dates, dates{iso: x.dates[i].iso})
		}
		c.dates[to].merge(&x.dates[i])
	}
}

// mostDates returns the layout that most dates have, or nil.
func (c *Counts) mostDates() (most *dates) {
	for i := range c.dates {
		if most == nil || c.dates[i].n > most.n {
			most = &c.dates[i]
		}
	}
	if len(c.dates) > 1 {
		return cmp.Or(c.trimmed(), most)
	}
	return most
}

// trimmed returns the layout of all dates if their layouts, of which there are several, differ only
// in the length of the fraction, and no fraction ends in 0; otherwise nil.
func (c *Counts) trimmed() *dates {
	all := &dates{iso: c.dates[0].trim()}
	for i := range c.dates {
		d := &c.dates[i]
		all.digits = max(all.digits, d.digits)
		x := d.trim()
		x.digits = all.digits
		if x != all.iso || d.zeros > 0 {
			return nil
		}
		all.merge(d)
	}
	if all.digits > 6 && (all.low.sec < -mostNanos || all.high.sec > mostNanos) {
		return nil
	}
	return all
}

// total returns the number of values.
func (c *Counts) total() int {
	return c.Bools + c.Ints + c.Floats + c.Beyond + c.Words + c.Texts
}

// Time returns the layout for package time in which all values are dates or times of ISO 8601, and
// a description of them; otherwise "".
func (c *Counts) Time() (layout, what string) {
	most := c.mostDates()
	if most == nil || most.n < c.total() {
		return "", ""
	}
	what = "times"
	if most.between == 0 {
		what = "dates"
	}
	return most.layout(), fmt.Sprintf("%s from %s to %s", what, most.low.text, most.high.text)
}

// firstText returns the first text.
func (c *Counts) firstText() spelling {
	first := c.text
	for i := range c.dates {
		first = first.earlier(c.dates[i].first)
	}
	return first
}

// firstOther returns the first value that is not in the layout of not, which may be nil.
func (c *Counts) firstOther(not *dates) spelling {
	first := c.text.earlier(c.some).earlier(c.fraction).earlier(c.beyond)
	for i := range c.dates {
		if not == nil || !not.trimmed && c.dates[i].iso != not.iso {
			first = first.earlier(c.dates[i].first)
		}
	}
	return first
}

// whyNotDates returns why a column that is mostly dates is text, or "".
func (c *Counts) whyNotDates() string {
	most, total, all := c.mostDates(), c.total(), 0
	for i := range c.dates {
		all += c.dates[i].n
	}
	switch {
	case c.zones > total/2:
		return fmt.Sprintf("%d of %d values have a zone, first %v, and would be written back in UTC", c.zones, total, c.zone)
	case all <= total/2 || most.n == total:
		return ""
	}
	return fmt.Sprintf("%d of %d values are not dates as %s%s", total-most.n, total, most.layout(), c.firstOther(most).first())
}

// first says which value is the first.
func (s spelling) first() string {
	if s.line == 0 {
		return ""
	}
	return fmt.Sprintf(", first %s in line %d", errtext.Quote(s.text), s.line)
}

// earlier returns the value with the smaller line.
func (s spelling) earlier(x spelling) spelling {
	if x.line > 0 && (s.line == 0 || x.line < s.line) {
		return x
	}
	return s
}
