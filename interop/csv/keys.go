package csv

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// key returns the key of a header.
func (f *Format) key(header string) nestedkey.Key {
	if f.Separator == "" {
		return nestedkey.Of(header)
	}
	parts := strings.Split(header, f.Separator)
	return nestedkey.Of(parts[0], parts[1:]...)
}

// A keySet has the keys of entries, and of the dictionaries that contain them.
type keySet struct{ entries, outer map[nestedkey.Key]bool }

func (s keySet) clone() keySet { return keySet{maps.Clone(s.entries), maps.Clone(s.outer)} }

// add adds the key of an entry. It returns false if a dictionary with the others cannot have it.
func (s keySet) add(key nestedkey.Key) bool {
	if s.entries[key] || s.outer[key] || strings.Count(string(key), "/") > tdict.MaxDepth {
		return false
	}
	for outer, ok := key.Parent(); ok; outer, ok = outer.Parent() {
		if s.entries[outer] {
			return false
		}
	}
	s.entries[key] = true
	for outer, ok := key.Parent(); ok; outer, ok = outer.Parent() {
		s.outer[outer] = true
	}
	return true
}

// keys returns a key for each header. If an earlier header has the key, _2 is appended, or the
// first number that makes the key free. If a nested key cannot be beside the other keys, it becomes
// a key of one part. It returns [ErrHeader] for a header that is not UTF-8.
func (f *Format) keys(headers []string) (keys []nestedkey.Key, set keySet, err error) {
	set = keySet{map[nestedkey.Key]bool{}, map[nestedkey.Key]bool{}}
	keys = make([]nestedkey.Key, len(headers))
	var rest []int
	for i, header := range headers {
		if !utf8.ValidString(header) {
			return nil, set, fmt.Errorf("%w: column %d: got the header %s, want UTF-8", ErrHeader, i+1, errtext.Quote(header))
		}
		if keys[i] = f.key(header); !set.add(keys[i]) {
			rest = append(rest, i)
		}
	}
	last := map[nestedkey.Key]int{}
	for _, i := range rest {
		key := keys[i]
		if !set.entries[key] {
			key = nestedkey.Of(headers[i])
		}
		n := max(1, last[key])
		for keys[i] = numbered(key, n); !set.add(keys[i]); keys[i] = numbered(key, n) {
			n++
		}
		last[key] = n + 1
	}
	return keys, set, nil
}

// numbered returns a key that ends with a number, unless it is 1.
func numbered(key nestedkey.Key, n int) nestedkey.Key {
	if n == 1 {
		return key
	}
	return key + nestedkey.Key("_"+strconv.Itoa(n))
}
