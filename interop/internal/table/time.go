package table

import (
	"math"
	"time"
)

// A clock converts between texts of a layout and numbers of units since the beginning of 1970 in
// UTC.
type clock struct {
	layout string
	unit   time.Duration
	iso    iso // of the layout, or zero
}

// newClock returns the clock of a layout. The unit divides a second or is a multiple of it.
func newClock(layout string, unit time.Duration) *clock {
	x, _ := isoOf([]byte(layout))
	switch layout {
	case x.layout():
	case x.trim().layout():
		x = x.trim()
	default:
		x = iso{}
	}
	return &clock{layout, unit, x}
}

// parse returns the exact number of units from 1970 to the time of a text. A text without a zone is
// in UTC. Texts that are not of c.iso are for package time, which takes more of them: a fraction
// that the layout lacks, and hours of one digit.
func (c *clock) parse(text []byte) (int64, error) {
	sec, nano, ok := c.iso.parse(text)
	if !ok {
		at, err := time.ParseInLocation(c.layout, string(text), time.UTC)
		if err != nil {
			return 0, refused(text, "a time as %q", c.layout)
		}
		sec, nano = at.Unix(), int64(at.Nanosecond())
	}
	n, ok := c.count(sec, nano)
	if !ok {
		return 0, refused(text, "a time that int64 holds in units of %v", c.unit)
	}
	return n, nil
}

// count returns the number of units from 1970 to a time. ok is false if it is not whole or does not
// fit an int64.
func (c *clock) count(sec, nano int64) (n int64, ok bool) {
	if c.unit >= time.Second {
		per := int64(c.unit / time.Second)
		return sec / per, sec%per == 0 && nano == 0
	}
	per := int64(time.Second / c.unit)
	rest := nano / int64(c.unit)
	if sec < 0 { // so that an intermediate result does not overflow for the least int64
		sec, rest = sec+1, rest-per
	}
	if sec > math.MaxInt64/per || sec < math.MinInt64/per {
		return 0, false
	}
	n = sec*per + rest
	return n, nano%int64(c.unit) == 0 && (n >= sec*per) == (rest >= 0)
}

// at returns the seconds and nanoseconds, from 0 on, from 1970 to n units after it. ok is false if
// they do not fit.
func (c *clock) at(n int64) (sec, nano int64, ok bool) {
	if c.unit >= time.Second {
		per := int64(c.unit / time.Second)
		return n * per, 0, n <= math.MaxInt64/per && n >= math.MinInt64/per
	}
	per := int64(time.Second / c.unit)
	if sec, nano = n/per, n%per*int64(c.unit); nano < 0 {
		sec, nano = sec-1, nano+int64(time.Second)
	}
	return sec, nano, true
}

// append appends the text of n.
func (c *clock) append(b []byte, n int64) []byte {
	sec, nano, _ := c.at(n)
	if c.iso.holds(sec, nano) {
		return c.iso.append(b, sec, nano)
	}
	return time.Unix(sec, nano).UTC().AppendFormat(b, c.layout)
}

// readsBack reports whether the text of n reads back as n. It may use b.
func (c *clock) readsBack(b []byte, n int64) bool {
	sec, nano, ok := c.at(n)
	if !ok || c.iso.length > 0 {
		return ok && c.iso.holds(sec, nano)
	}
	got, err := c.parse(c.append(b, n))
	return err == nil && got == n
}

// Unit returns the coarsest of the units d, s, ms, us and ns that holds each time that a layout of
// package time spells.
func Unit(layout string) string {
	base := time.Date(2006, time.January, 2, 0, 0, 0, 0, time.UTC)
	text := base.Format(layout)
	for _, u := range []struct {
		name string
		step time.Duration
	}{{"ns", 999}, {"us", 999 * time.Microsecond}, {"ms", 999 * time.Millisecond}, {"s", time.Second}, {"s", time.Minute}, {"s", time.Hour}, {"s", 12 * time.Hour}} {
		if base.Add(u.step).Format(layout) != text {
			return u.name
		}
	}
	zone := time.FixedZone("", 3600)
	if time.Date(2006, time.January, 2, 0, 0, 0, 0, zone).Format(layout) != text {
		return "s"
	}
	return "d"
}
