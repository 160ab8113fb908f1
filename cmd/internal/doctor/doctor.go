// Package doctor looks for what stands in the way of a cache of samples.
package doctor

// A Finding is something that a user should know about a cache.
type Finding struct {
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // what was found
	Do       string   `json:"do"`   // what to do about it; "" if nothing
}

// A Severity says how much a Finding matters.
type Severity string

const (
	Fine    Severity = "ok"      // looked at, and good
	Warning Severity = "warning" // it may stand in the way later
	Problem Severity = "problem" // it stands in the way
)
