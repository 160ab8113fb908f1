package programs

import (
	"fmt"
	"strings"
)

// An Exit says how a program has ended.
type Exit struct {
	Status string   // "exit status 1", or "signal: killed"
	OK     bool     // the status is 0
	Ended  bool     // a signal of End has ended it
	Last   []string // the last lines of its standard error
}

// String returns how the program has ended, and the last lines of its standard error.
func (e Exit) String() string {
	text := e.Status
	if e.Ended && (text == "signal: terminated" || text == "signal: killed") {
		text = "it was ended"
	}
	if len(e.Last) > 0 {
		text += "; its last lines: " + strings.Trim(fmt.Sprintf("%q", e.Last), "[]")
	}
	return text
}
