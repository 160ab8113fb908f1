// Package doctor examines whether a cache of samples can work at a place.
//
// [Directory] examines a directory and this machine. It reads /proc and /sys of Linux. On other
// systems it leaves out the checks that need them, and one finding says so.
package doctor

import (
	"fmt"
	"slices"
)

// A Finding is something that a user should know about a cache.
type Finding struct {
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // a statement
	Do       string   `json:"do"`   // an advice; "" if there is nothing to do
}

// A Severity says how much a Finding matters.
type Severity string

const (
	Fine    Severity = "ok"      // looked at, and good
	Warning Severity = "warning" // it may stand in the way later
	Problem Severity = "problem" // it stands in the way
)

// String returns the finding as a line of text.
func (f Finding) String() string {
	line := fmt.Sprintf("%-8s %s", f.Severity, f.Text)
	if f.Do != "" {
		line += ": " + f.Do
	}
	return line
}

// Bad reports whether there is a Problem.
func Bad(list []Finding) bool {
	return slices.ContainsFunc(list, func(f Finding) bool { return f.Severity == Problem })
}

func fine(format string, args ...any) Finding {
	return Finding{Fine, fmt.Sprintf(format, args...), ""}
}

func warning(do, format string, args ...any) Finding {
	return Finding{Warning, fmt.Sprintf(format, args...), do}
}

func problem(do, format string, args ...any) Finding {
	return Finding{Problem, fmt.Sprintf(format, args...), do}
}

// Size returns a number of bytes as text, such as "1.5 GB".
func Size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1000, 0
	for x >= 999.95 && unit < 5 {
		x, unit = x/1000, unit+1
	}
	return fmt.Sprintf("%.1f %cB", x, "kMGTPE"[unit])
}
