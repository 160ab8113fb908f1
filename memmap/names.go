package memmap

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/pool"
)

const (
	metaName = "meta.json"
	leafExt  = ".memmap"
)

// maxName is the length of the longest file name that file systems take, in bytes.
const maxName = 255

// fileName returns the file name, without extension, for the entry text. It has no separator, and
// is never "." or "..".
func fileName(text string) string {
	switch text {
	case "":
		return "%"
	case ".":
		return "%2E"
	case "..":
		return "%2E%2E"
	}
	if !strings.ContainsFunc(text, special) {
		return text
	}
	var b strings.Builder
	for _, c := range text {
		if special(c) {
			const digits = "0123456789ABCDEF"
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// special reports whether fileName escapes a character.
func special(c rune) bool {
	return c < 0x20 || c == 0x7f || c < 0x80 && strings.IndexByte(`/<>:"|?*\ %`, byte(c)) >= 0
}

// rawName reports whether text is safe as a file name as it is, so that readers may look for it:
// writers before v0.13 did not escape names.
func rawName(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.ContainsAny(text, "/\\\x00") &&
		(len(text) < 2 || text[1] != ':')
}

// reserved reports whether the format has a field of this name.
func reserved(text string) bool {
	return text == fieldShape || text == fieldDevice || text == fieldType || text == fieldNative || text == fieldSum
}

// CheckName returns [ErrName], with the reason, if no leaf can have a name: a part of a key. Such
// names are fields of the format, or make too long names of files.
func CheckName(name string) error {
	why := nameClash(name, fileName(name)+leafExt, nil)
	if why == "" && pool.Reserved(name) {
		why = "the format uses the name for a part of a ragged tensor"
	}
	if why != "" {
		return fmt.Errorf("%w: %s: %s", ErrName, quote(name), why)
	}
	return nil
}
