package table

import (
	"strings"
	"time"
)

// An iso is a layout of ISO 8601: a date such as 2006-01-02, and perhaps T or a blank, hour and
// minute, perhaps seconds, 1 to 9 digits of a fraction, and Z. Its year has four digits.
type iso struct {
	length  int  // of the texts; if trimmed, without a fraction
	between byte // date and time, or 0 for a date
	seconds bool
	digits  int  // of the fraction
	trimmed bool // texts lack zeros at the end of the fraction
	zulu    bool
}

// isoOf returns the layout of a text. It does not check the digits. A layout of package time is
// such a text itself. zoned is whether the text has a zone other than Z, after the layout; without
// a layout x is zero.
func isoOf(text []byte) (x iso, zoned bool) {
	if len(text) < len("2006-01-02") || text[4] != '-' || text[7] != '-' {
		return iso{}, false
	}
	rest := text[len("2006-01-02"):]
	if len(rest) >= len("T15:04") && (rest[0] == 'T' || rest[0] == ' ') && rest[3] == ':' {
		x.between, rest = rest[0], rest[len("T15:04"):]
		if len(rest) >= len(":05") && rest[0] == ':' {
			x.seconds, rest = true, rest[len(":05"):]
		}
		if x.seconds && len(rest) > 1 && rest[0] == '.' {
			for rest = rest[1:]; len(rest) > 0 && rest[0]-'0' <= 9; rest = rest[1:] {
				x.digits++
			}
			if x.digits == 0 || x.digits > 9 {
				return iso{}, false
			}
		}
		if len(rest) > 0 && rest[0] == 'Z' {
			x.zulu, rest = true, rest[1:]
		}
	}
	x.length = len(text) - len(rest)
	if len(rest) > 0 && (x.between == 0 || x.zulu || !isZone(rest)) {
		return iso{}, false
	}
	return x, len(rest) > 0
}

// isZone reports whether a text is a zone, such as +02:00, -0730 or +02.
func isZone(text []byte) bool {
	layouts := map[int]string{len("-07"): "-07", len("-0700"): "-0700", len("-07:00"): "-07:00"}
	_, err := time.Parse(layouts[len(text)], string(text))
	return err == nil
}

// layout returns the layout for package time.
func (x iso) layout() string {
	if x.length == 0 {
		return ""
	}
	layout := "2006-01-02"
	if x.between != 0 {
		layout += string(x.between) + "15:04"
	}
	if x.seconds {
		layout += ":05"
	}
	if x.digits > 0 && x.trimmed {
		layout += "." + strings.Repeat("9", x.digits)
	} else if x.digits > 0 {
		layout += "." + strings.Repeat("0", x.digits)
	}
	if x.zulu {
		layout += "Z"
	}
	return layout
}

// trim returns the layout of texts that lack zeros at the end of the fraction of x.
func (x iso) trim() iso {
	if x.digits > 0 {
		x.length -= len(".") + x.digits
	}
	x.trimmed = true
	return x
}

// of returns the layout of a text with some digits of the fraction, for a trimmed x.
func (x iso) of(digits int) iso {
	x.digits, x.trimmed = digits, false
	if digits > 0 {
		x.length += len(".") + digits
	}
	return x
}

// pair returns the number that two digits spell, or 255.
func pair(text []byte) uint {
	a, b := uint(text[0]-'0'), uint(text[1]-'0')
	if a > 9 || b > 9 {
		return 255
	}
	return a*10 + b
}

// daysBefore are the days of a year before each month, from 1, if it is not a leap year.
var daysBefore = [14]int64{1: 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365}

// to1970 is the number of days from the beginning of year 0 to 1970.
const to1970 = 719528

// parse returns the seconds and nanoseconds from 1970 to the time of a text. ok is false if x is
// zero, or if the text is not a time as x writes it; zeros may follow a trimmed fraction.
func (x iso) parse(text []byte) (sec, nano int64, ok bool) {
	if x.trimmed && len(text) <= x.of(x.digits).length {
		x = x.of(max(0, len(text)-x.length-len(".")))
	}
	if len(text) != x.length || x.length == 0 || text[4] != '-' || text[7] != '-' {
		return 0, 0, false
	}
	century, of, month, day := pair(text), pair(text[2:]), pair(text[5:]), pair(text[8:])
	if century > 99 || of > 99 || month-1 >= 12 {
		return 0, 0, false
	}
	year := int64(century*100 + of)
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	before, days := daysBefore[month], daysBefore[month+1]-daysBefore[month]
	switch {
	case leap && month == 2:
		days++
	case leap && month > 2:
		before++
	}
	if int64(day)-1 < 0 || int64(day) > days {
		return 0, 0, false
	}
	sec = (365*year + (year+3)/4 - (year+99)/100 + (year+399)/400 + before + int64(day) - 1 - to1970) * secondsOfDay
	if x.between == 0 {
		return sec, 0, true
	}
	clock, nano, ok := x.time(text[len("2006-01-02"):])
	return sec + clock, nano, ok
}

// secondsOfDay is the number of seconds of a day.
const secondsOfDay = 24 * 60 * 60

// time is parse for the text after the date.
func (x iso) time(text []byte) (sec, nano int64, ok bool) {
	hour, minute, second := pair(text[1:]), pair(text[4:]), uint(0)
	ok = text[0] == x.between && text[3] == ':' && hour < 24 && minute < 60
	text = text[len("T15:04"):]
	if x.seconds {
		second = pair(text[1:])
		ok = ok && text[0] == ':' && second < 60
		text = text[len(":05"):]
	}
	if x.digits > 0 {
		ok = ok && text[0] == '.'
		for _, c := range text[1 : 1+x.digits] {
			ok = ok && c-'0' <= 9
			nano = nano*10 + int64(c-'0')
		}
		text = text[1+x.digits:]
		nano *= x.step()
	}
	if x.zulu {
		ok = ok && text[0] == 'Z'
	}
	return int64((hour*60+minute)*60 + second), nano, ok
}

// step returns the number of nanoseconds that the last digit of the fraction counts.
func (x iso) step() int64 {
	n := int64(1)
	for range 9 - x.digits {
		n *= 10
	}
	return n
}

// The first and the last second of the years with four digits.
const firstSecond, lastSecond = -to1970 * secondsOfDay, (3_652_425-to1970)*secondsOfDay - 1

// holds reports whether x has a text for the time sec seconds and nano nanoseconds after 1970.
func (x iso) holds(sec, nano int64) bool {
	switch {
	case x.length == 0 || sec < firstSecond || sec > lastSecond:
		return false
	case x.between == 0:
		return sec%secondsOfDay == 0 && nano == 0
	case !x.seconds:
		return sec%60 == 0 && nano == 0
	case x.digits == 0:
		return nano == 0
	}
	return nano%x.step() == 0
}

// append appends the text of a time that x holds.
func (x iso) append(b []byte, sec, nano int64) []byte {
	if x.trimmed {
		short := x.of(0)
		for !short.holds(sec, nano) {
			short = x.of(short.digits + 1)
		}
		x = short
	}
	sec -= firstSecond
	year, month, day := dateOf(uint64(sec / secondsOfDay))
	b = twoDigits(twoDigits(b, year/100), year%100)
	b = twoDigits(append(b, '-'), month)
	b = twoDigits(append(b, '-'), day)
	if x.between == 0 {
		return b
	}
	second := uint64(sec % secondsOfDay)
	b = twoDigits(append(b, x.between), second/3600)
	b = twoDigits(append(b, ':'), second/60%60)
	if x.seconds {
		b = twoDigits(append(b, ':'), second%60)
	}
	if x.digits > 0 {
		b = append(b, ".000000000"[:1+x.digits]...)
		for i, rest := len(b)-1, nano/x.step(); rest > 0; i, rest = i-1, rest/10 {
			b[i] += byte(rest % 10)
		}
	}
	if x.zulu {
		b = append(b, 'Z')
	}
	return b
}

func twoDigits(b []byte, v uint64) []byte { return append(b, '0'+byte(v/10), '0'+byte(v%10)) }

// dateOf returns the date of the day with a number from the beginning of year 0. It counts years
// from March, so that a leap day is the last day of a year.
func dateOf(n uint64) (year, month, day uint64) {
	const era, century, fourYears = 146_097, 36_524, 1_461 // numbers of days
	n += era - 60                                          // from 1 March of 400 years before year 0
	of := n % era
	years := (of - of/(fourYears-1) + of/century - of/(era-1)) / 365
	of -= 365*years + years/4 - years/100
	month = (5*of + 2) / 153
	day = of - (153*month+2)/5 + 1
	if month += 3; month > 12 {
		month -= 12
		years++
	}
	return n/era*400 + years - 400, month, day
}
