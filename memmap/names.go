package memmap

import "strings"

const (
	metaName = "meta.json"
	leafExt  = ".memmap"
)

// maxName is the longest file name that file systems take, in bytes.
const maxName = 255

// fileName returns the name under which an entry called text is saved, without extension. It never
// has a separator and is never "." or "..".
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

// special reports whether a character is spelled in another way in the name of a file.
func special(c rune) bool {
	return c < 0x20 || c == 0x7f || c < 0x80 && strings.IndexByte(`/<>:"|?*\ %`, byte(c)) >= 0
}

// rawName reports whether old writers, which did not encode names, may have saved the entry called
// text under its own name, and that name is harmless.
func rawName(text string) bool {
	return text != "" && text != "." && text != ".." && !strings.ContainsAny(text, "/\\\x00") &&
		(len(text) < 2 || text[1] != ':')
}

// reserved reports whether the format uses an entry's name for a field of its own.
func reserved(text string) bool {
	return text == fieldShape || text == fieldDevice || text == fieldType || text == fieldNative
}
