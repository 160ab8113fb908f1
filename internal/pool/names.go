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

const maxLevels = 64

// LengthsOf returns the name of the lengths of a level, from 1.
func LengthsOf(level int) string {
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
	if err != nil || n < 2 || n > maxLevels || strconv.Itoa(n) != digits {
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

// A Count counts the entries of a dictionary. A ragged tensor counts once: by the entry of its
// dictionary, or in a flat dictionary by its parts. Parts without the others count as if they had
// them. The zero Count has no entries.
type Count struct {
	of   map[string]int // the parts of each name in a flat dictionary
	most int            // of these
}

// Adds adds an entry, and reports whether it counts.
func (c *Count) Adds(name string) bool {
	_, part, flat := Split(name)
	if !flat {
		return !IsPart(name)
	}
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[part]++
	if c.of[part] <= c.most {
		return false
	}
	c.most++
	return true
}
