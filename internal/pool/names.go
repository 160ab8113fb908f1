package pool

import (
	"strconv"
	"strings"
)

// The names of the parts. The lengths of level 2 have the name "@lengths2", and so on.
const (
	Lengths = "@lengths"
	Values  = "@pool"
	Row     = "@row"
)

// maxDims is the number of dims, levels included, that the readers of the format take.
const maxDims = 64

// lengthsOf returns the name of the lengths of a level, from 1.
func lengthsOf(level int) string {
	if level == 1 {
		return Lengths
	}
	return Lengths + strconv.Itoa(level)
}

// Level returns the level whose lengths a part has, or 0.
func Level(name string) int {
	digits, ok := strings.CutPrefix(name, Lengths)
	switch {
	case !ok:
		return 0
	case digits == "":
		return 1
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 2 || n > maxDims || strconv.Itoa(n) != digits {
		return 0
	}
	return n
}

// IsPart reports whether name is the name of a part. A dictionary with an entry of such a name is a
// ragged tensor.
func IsPart(name string) bool {
	return len(name) > 0 && name[0] == '@' && (name == Values || name == Row || Level(name) > 0)
}

// Split splits the name of a part in a flat dictionary, such as "text.@pool", which is the entry
// "@pool" of the dictionary "text" for Python's unflatten_keys.
func Split(name string) (leaf, part string, ok bool) {
	i := strings.LastIndex(name, ".@")
	if i < 0 || !IsPart(name[i+1:]) {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// Reserved reports whether no entry but a part can have the name.
func Reserved(name string) bool {
	_, _, flat := Split(name)
	return flat || IsPart(name)
}

// A Counter counts entries so that a ragged tensor counts once: by the entry of its dictionary or,
// in a flat dictionary, by the first of its parts, which follow each other.
type Counter struct {
	leaf string // of the part before
	run  int    // number of parts of it; 0 if the entry before is no part
}

// Counts reports whether the next entry, of the given name, counts.
func (c *Counter) Counts(name string) bool {
	leaf, _, flat := Split(name)
	if !flat && !IsPart(name) {
		c.run = 0
		return true
	}
	again := c.run == maxDims+2 // no leaf has more parts
	if again || leaf != c.leaf {
		c.leaf, c.run = leaf, 0
	}
	c.run++
	return c.run == 1 && (flat || again)
}
