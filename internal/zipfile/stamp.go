package zipfile

import "time"

// stamp returns the date and time of an entry in the format's encoding: the clock of t in its zone,
// and the start of 1980 for the zero time.
func stamp(t time.Time) (clock, date uint16, err error) {
	if t.IsZero() {
		return 0, 1<<5 | 1, nil
	}
	if t.Year() < 1980 || t.Year() > 2107 {
		return 0, 0, unsupported("got a time in %d, want 1980 to 2107", t.Year())
	}
	clock = uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2)
	date = uint16((t.Year()-1980)<<9 | int(t.Month())<<5 | t.Day())
	return clock, date, nil
}

// modified returns the time of a stamp, or the zero time if it is invalid.
func modified(clock, date uint16) time.Time {
	t := time.Date(1980+int(date>>9), time.Month(date>>5&15), int(date&31),
		int(clock>>11), int(clock>>5&63), int(clock&31)*2, 0, time.UTC)
	if c, d, err := stamp(t); err != nil || c != clock || d != date {
		return time.Time{}
	}
	return t
}
