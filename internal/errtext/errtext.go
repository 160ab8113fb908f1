// Package errtext makes the texts of errors about files, whose names may be damaged or very long.
//
// Its functions are safe for concurrent use.
package errtext

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Quote quotes a name that was read from a file. If it has more than 100 bytes, Quote quotes the
// beginning.
func Quote(name string) string {
	const most = 100
	if len(name) > most {
		return strconv.Quote(strings.ToValidUTF8(name[:most], "")) + "..."
	}
	return strconv.Quote(name)
}

// Line returns name, quoted if it is not UTF-8 or would not print on one line.
func Line(name string) string {
	if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Cut returns text, without its middle if it has more than most bytes.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2]+" ... "+text[len(text)-most/2:], "")
}

// Bare returns the reason of an [fs.PathError] or an [os.LinkError], without operation and paths.
// It returns other errors as they are.
func Bare(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// With returns an error with the text of err, ": ", and the formatted text, as [fmt.Errorf] does.
// It wraps err and the errors that the format wraps.
func With(err error, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{err}, args...)...)
}
