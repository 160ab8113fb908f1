package tdict

import (
	"fmt"
	"strings"
	"unicode"
)

// A header is the part of a dictionary that operations carry to their results, besides its batch
// shape and entries.
type header struct {
	names []string // of the batch dims, "" for none; nil if no dim has one
	class string   // the name of the Python class; "" for none
}

// named returns h with other names of dims.
func (h header) named(names []string) header { return header{names, h.class} }

// Class returns the name of the Python class that td is an instance of, such as "my.module.Frame",
// or "" for a plain dictionary. It is a name: nothing looks the class up. memmap saves a dictionary
// that has one as Python's tensorclass. Operations carry it as they carry [TensorDict.Names]: Stack
// and the like go by the first dictionary, and a destination that the caller owns keeps its own.
// [TensorDict.Equal] does not look at it.
func (td *TensorDict) Class() string { return td.class }

// SetClass makes td an instance of the Python class with the given name, or of none for "".
// Dictionaries in td keep theirs. SetClass returns [ErrName] unless name is printable UTF-8 without
// spaces and quotes that does not end in a dot, and [ErrLocked].
func (td *TensorDict) SetClass(name string) error {
	if td.Locked() {
		return failed("set class", td.errLocked())
	}
	if err := checkClass(name); err != nil {
		return failed("set class", err)
	}
	td.class = name
	return nil
}

// checkClass returns ErrName unless a class can have the name.
func checkClass(name string) error {
	bad := func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune(" '\"\ufffd", c) }
	if strings.ContainsFunc(name, bad) || strings.HasSuffix(name, ".") {
		return fmt.Errorf("%w: got the class %.80q, want a name such as my.module.Frame", ErrName, name)
	}
	return nil
}
