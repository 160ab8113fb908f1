// Package nestedkey implements the keys of nested dictionaries. A [Key] is one or more parts with
// "/" between them: "obs" has one part, "next/obs" has two.
//
//	td.Get("next/obs")
//	td.Get(nestedkey.Join("next", key)) // key may itself be nested
//	td.Get(nestedkey.Of(column))        // column is any text: "km/h" becomes "km~1h"
//	key, err := nestedkey.Parse(text)   // text that may not be a key
//	first, rest, nested := key.Cut()    // "next", "obs", true
//
// A Key is a string: comparable, usable as a map key, free to copy. An untyped string constant is
// already one.
//
// # Spelling
//
// Within a part "~1" stands for "/" and "~0" for "~", as in a JSON Pointer (RFC 6901), so that
// every UTF-8 text can be a part, the empty one included. A "~" before anything else is ill-formed,
// as is text that is not UTF-8: [Key.Check] and [Parse] return [ErrKey]. Every string has at least
// one part; the zero Key is one empty part.
//
// # Memory and concurrency
//
// Comparing, cutting, and asking for a prefix or parent allocate nothing: what they return shares
// the key's text. Everything here is safe for concurrent use.
package nestedkey
