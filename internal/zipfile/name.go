package zipfile

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"unicode/utf8"
)

// checkName returns an error unless name is valid for an archive: a relative path in UTF-8, which
// may have a drive letter.
func checkName(name string) error {
	switch {
	case len(name) > math.MaxUint16:
		return errors.New("the name is too long")
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsRune(name, 0):
		return errors.New("the name has a zero byte")
	case strings.Contains(name, `\`):
		return errors.New("the name has a backslash")
	case strings.TrimSuffix(name, "/") == "." || !fs.ValidPath(strings.TrimSuffix(name, "/")):
		return errors.New(`the name has a part that is empty, "." or ".."`)
	}
	return nil
}

// isDir reports whether name is the name of a directory.
func isDir(name string) bool { return strings.HasSuffix(name, "/") }
