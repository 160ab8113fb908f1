package table

import (
	"fmt"
	"math"
	"time"
)

// A Time says how an int64 column is written as dates or times.
type Time struct {
	// Layout is a layout of package time, such as time.DateOnly.
	Layout string
	// Unit is the unit of the numbers, which count from 1970 in UTC; 0 means time.Second.
	Unit time.Duration
	// Zone is the zone of texts without one, and of written texts; nil means UTC.
	Zone *time.Location
}

// withDefaults returns tm with defaults in place of zeros.
func (tm Time) withDefaults() Time {
	if tm.Unit == 0 {
		tm.Unit = time.Second
	}
	if tm.Zone == nil {
		tm.Zone = time.UTC
	}
	return tm
}

// check returns an error unless the unit divides a second or is a multiple of it.
func (tm Time) check() error {
	if tm.Layout == "" || tm.Unit <= 0 || time.Second%tm.Unit != 0 && tm.Unit%time.Second != 0 {
		return fmt.Errorf("got Times of layout %q in units of %v, want a layout, and a part or a multiple of a second", tm.Layout, tm.Unit)
	}
	return nil
}

// Check returns [ErrValue] unless text is a time of tm.
func (tm Time) Check(text []byte) error {
	_, err := tm.withDefaults().parse(text)
	return err
}

// parse returns the exact number of units from 1970 to the time of a text.
func (tm Time) parse(text []byte) (int64, error) {
	at, err := time.ParseInLocation(tm.Layout, string(text), tm.Zone)
	if err != nil {
		return 0, refused(text, "a time as %q", tm.Layout)
	}
	n, ok := tm.count(at)
	if !ok {
		return 0, refused(text, "a time that int64 holds in units of %v", tm.Unit)
	}
	return n, nil
}

// count returns the number of units from 1970 to at. ok is false if it is not whole or does not fit
// an int64.
func (tm Time) count(at time.Time) (n int64, ok bool) {
	sec, nano := at.Unix(), int64(at.Nanosecond())
	if tm.Unit >= time.Second {
		per := int64(tm.Unit / time.Second)
		return sec / per, sec%per == 0 && nano == 0
	}
	per := int64(time.Second / tm.Unit)
	rest := nano / int64(tm.Unit)
	if sec < 0 { // so that an intermediate result does not overflow for the least int64
		sec, rest = sec+1, rest-per
	}
	if sec > math.MaxInt64/per || sec < math.MinInt64/per {
		return 0, false
	}
	n = sec*per + rest
	return n, nano%int64(tm.Unit) == 0 && (n >= sec*per) == (rest >= 0)
}

// at returns the time of n units.
func (tm Time) at(n int64) time.Time {
	if tm.Unit >= time.Second {
		return time.Unix(n*int64(tm.Unit/time.Second), 0).In(tm.Zone)
	}
	per := int64(time.Second / tm.Unit)
	return time.Unix(n/per, n%per*int64(tm.Unit)).In(tm.Zone)
}

// append appends the text of n.
func (tm Time) append(b []byte, n int64) []byte { return tm.at(n).AppendFormat(b, tm.Layout) }
