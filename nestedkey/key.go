package nestedkey

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"
)

// ErrKey says that a key is ill-formed.
var ErrKey = errors.New("ill-formed key")

// A Key names an entry of a nested dictionary, as parts with "/" between them. Two keys name the
// same entry exactly when they are equal. Safe for concurrent use.
type Key string

var escape = strings.NewReplacer("~", "~0", "/", "~1")

// Of returns the key with the given parts, each of them any text. It escapes "/" and "~".
func Of(first string, rest ...string) Key {
	if len(rest) == 0 && strings.IndexByte(first, '~') < 0 && strings.IndexByte(first, '/') < 0 {
		return Key(first)
	}
	var b strings.Builder
	_, _ = escape.WriteString(&b, first) // a Builder does not fail
	for _, part := range rest {
		b.WriteByte('/')
		_, _ = escape.WriteString(&b, part)
	}
	return Key(b.String())
}

// Parse returns text as a key, or [ErrKey] if text does not spell one.
func Parse(text string) (Key, error) {
	k := Key(text)
	return k, k.Check()
}

// Join nests keys: Join("a", "b") is "a/b". A key that is itself nested keeps its parts:
// Join("a/b", "c") is "a/b/c".
func Join(outer Key, inner ...Key) Key {
	switch len(inner) {
	case 0:
		return outer
	case 1:
		return outer + "/" + inner[0]
	}
	var b strings.Builder
	b.WriteString(string(outer))
	for _, k := range inner {
		b.WriteByte('/')
		b.WriteString(string(k))
	}
	return Key(b.String())
}

// Check returns [ErrKey] if k is ill-formed: if it is not UTF-8, or has a "~" that is not followed
// by 0 or 1.
func (k Key) Check() error {
	s := string(k)
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w %q: not UTF-8", ErrKey, s)
	}
	for i := strings.IndexByte(s, '~'); i >= 0; {
		if i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1' {
			return fmt.Errorf("%w %q: byte %d: got a lone ~, want ~0 (for ~) or ~1 (for /)", ErrKey, s, i)
		}
		next := strings.IndexByte(s[i+1:], '~')
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return nil
}

// Cut splits k after its first part. Both results keep their escapes. If k has one part, nested is
// false and rest is empty.
func (k Key) Cut() (first, rest Key, nested bool) {
	head, tail, nested := strings.Cut(string(k), "/")
	return Key(head), Key(tail), nested
}

// Parent returns k without its last part, and false if k has only one.
func (k Key) Parent() (Key, bool) {
	i := strings.LastIndexByte(string(k), '/')
	if i < 0 {
		return "", false
	}
	return k[:i], true
}

// Name returns the text of the last part.
func (k Key) Name() string {
	return text(k[strings.LastIndexByte(string(k), '/')+1:])
}

// Parts yields the text of each part, outermost first. It allocates only for parts with an escape;
// to walk the parts with their escapes, use [Key.Cut].
func (k Key) Parts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest, nested := k, true; nested; {
			var part Key
			part, rest, nested = rest.Cut()
			if !yield(text(part)) {
				return
			}
		}
	}
}

// HasPrefix reports whether the parts of k begin with the parts of prefix. A key is its own prefix.
func (k Key) HasPrefix(prefix Key) bool {
	return strings.HasPrefix(string(k), string(prefix)) &&
		(len(k) == len(prefix) || k[len(prefix)] == '/')
}

// text returns one part without escapes.
func text(part Key) string {
	if strings.IndexByte(string(part), '~') < 0 {
		return string(part)
	}
	return unescape.Replace(string(part))
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
