package tdict

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
)

// A header is the part of a dictionary, apart from batch shape and entries, that operations carry
// to their results.
type header struct {
	names []string // the names of the batch dims, "" for none; nil if no dim has a name
	class string   // the name of the Python class; "" for none

	// stack has, for a lazy stack, the dictionaries that were stacked, without their entries: their
	// batch shapes and stacks. It is nil for other dictionaries.
	stack *Stacked
}

// named returns h for another batch shape, whose dims have the given names.
func (h header) named(names []string) header { return header{names: names, class: h.class} }

// Class returns the name of the Python class of td, such as "my.module.Frame", or "" for a plain
// dictionary. The class itself need not exist. memmap saves a dictionary with a class as Python's
// tensorclass. Operations carry the class to their results as they carry [TensorDict.Names]: the
// result of Stack and other joins has the class of the first dictionary, and a destination that the
// caller owns keeps its own. [TensorDict.Equal] ignores it.
func (td *TensorDict) Class() string { return td.class }

// SetClass sets the name of the Python class of td; "" removes it. Dictionaries in td keep theirs.
// SetClass returns [ErrLocked], and [ErrName] unless name is printable UTF-8 without spaces and
// quotes that does not end in a dot.
func (td *TensorDict) SetClass(name string) error {
	if err := cmp.Or(td.checkUnlocked(), checkClass(name)); err != nil {
		return failed("set class", err)
	}
	td.class = name
	return nil
}

// checkClass returns ErrName if name cannot be the name of a class.
func checkClass(name string) error {
	bad := func(c rune) bool { return !unicode.IsPrint(c) || strings.ContainsRune(" '\"\ufffd", c) }
	if strings.ContainsFunc(name, bad) || strings.HasSuffix(name, ".") {
		return fmt.Errorf("%w: got the class %.80q, want a name such as my.module.Frame", ErrName, name)
	}
	return nil
}
