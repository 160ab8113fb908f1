package tdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// A missingError is the ErrMissing of a dictionary that lacks a key. Its text is made when Error is
// called, from the names that the dictionary had, so that lookups of missing keys stay cheap.
type missingError struct {
	outer nestedkey.Key   // the key of the dictionary in the one searched; may be ""
	key   nestedkey.Key   // the key that it lacks
	other nestedkey.Key   // a key of similar spelling that it has, if one was found already
	names []nestedkey.Key // the names that it has, with gaps
}

// missing returns the ErrMissing of a key that td lacks.
func (td *TensorDict) missing(key nestedkey.Key) error { return td.missingIn(key, key) }

// missingIn returns the ErrMissing of whole, of which td, a nested dictionary, lacks the rest.
func (td *TensorDict) missingIn(whole, rest nestedkey.Key) error {
	outer := strings.TrimSuffix(strings.TrimSuffix(string(whole), string(rest)), "/")
	e := &missingError{outer: nestedkey.Key(outer), key: rest, names: td.entries.table.snapshot()}
	for _, old := range []string{".", "~1"} {
		if other := nestedkey.Key(strings.ReplaceAll(string(rest), old, "/")); e.other == "" && other != rest && td.Has(other) {
			e.other = other
		}
	}
	return e
}

// Unwrap returns ErrMissing.
func (e *missingError) Unwrap() error { return ErrMissing }

// Error returns the first names that the dictionary has, and the one of most similar spelling.
func (e *missingError) Error() string {
	const most = 8
	names := slices.DeleteFunc(slices.Clone(e.names), func(name nestedkey.Key) bool { return name == gap })
	text := ErrMissing.Error() + ": have "
	for i, name := range names[:min(len(names), most)] {
		text += strings.Repeat(", ", min(i, 1)) + strconv.Quote(string(name))
	}
	switch {
	case len(names) == 0:
		text = ErrMissing.Error() + ": the dictionary is empty"
	case len(names) > most:
		text += fmt.Sprintf(", and %d more", len(names)-most)
	}
	if e.outer != "" {
		text = fmt.Sprintf("in %q: %s", string(e.outer), text)
	}
	joined := joinedName(e.key, func(name nestedkey.Key) bool { return slices.Contains(e.names, name) })
	const mostCompared = 10_000
	key, _, _ := e.key.Cut()
	nearest, least := nestedkey.Key(""), min(len(key)/3, 3)+1
	for _, name := range e.names[:min(len(e.names), mostCompared)] {
		n := distance(string(key), string(name), least)
		if strings.EqualFold(string(key), string(name)) {
			n = 0
		}
		if n < least {
			nearest, least = name, n
		}
	}
	other := cmp.Or(e.other, joined, nearest)
	if other == "" {
		return text
	}
	if e.outer != "" {
		other = nestedkey.Join(e.outer, other)
	}
	return text + fmt.Sprintf("; did you mean %s?", suggested(other))
}

// joinedName returns a name that joins the parts of key with "." or "/" and that has accepts, or
// "".
func joinedName(key nestedkey.Key, has func(name nestedkey.Key) bool) nestedkey.Key {
	for _, sep := range []string{".", "~1"} {
		name := nestedkey.Key(strings.ReplaceAll(string(key), "/", sep))
		if name != key && has(name) {
			return name
		}
	}
	return ""
}

// mostChanged is the length from which on distance does not compare texts.
const mostChanged = 32

// distance returns the number of bytes to insert, delete, replace, or swap with their neighbor to
// turn a into b, but at most limit.
func distance(a, b string, limit int) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if max(len(a), len(b)) >= mostChanged || max(len(a)-len(b), len(b)-len(a)) >= limit {
		return limit
	}
	var rows [mostChanged][mostChanged]int // [i][j]: the distance of a[:i] from b[:j]
	for i := range len(a) + 1 {
		for j := range len(b) + 1 {
			if i == 0 || j == 0 {
				rows[i][j] = i + j
				continue
			}
			n := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				n++
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				n = min(n, rows[i-2][j-2]+1)
			}
			rows[i][j] = min(n, rows[i-1][j]+1, rows[i][j-1]+1)
		}
	}
	return min(limit, rows[len(a)][len(b)])
}

// suggested returns a key as a Go expression: quoted, or a call of nestedkey.Of if it has an
// escape.
func suggested(key nestedkey.Key) string {
	if !strings.Contains(string(key), "~") {
		return strconv.Quote(string(key))
	}
	var texts []string
	for part := range key.Parts() {
		texts = append(texts, strconv.Quote(part))
	}
	return "nestedkey.Of(" + strings.Join(texts, ", ") + ")"
}
