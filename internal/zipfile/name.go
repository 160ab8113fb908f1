package zipfile

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"
)

// checkName returns nil for the names that an archive can have here: relative paths in UTF-8, which
// can have a drive letter.
func checkName(name string) error {
	switch {
	case len(name) > math.MaxUint16:
		return errors.New("the name is too long")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsRune(name, 0):
		return errors.New("a zero byte in the name")
	case strings.Contains(name, `\`):
		return errors.New("a backslash in the name")
	case strings.TrimSuffix(name, "/") == "." || !fs.ValidPath(strings.TrimSuffix(name, "/")):
		return errors.New(`an empty part, "." or ".." in the name`)
	}
	return nil
}

// isDir reports whether name is that of a directory.
func isDir(name string) bool { return strings.HasSuffix(name, "/") }
