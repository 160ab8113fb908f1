// Package jsonscan reads one JSON text from memory, value by value and in order. It does not keep
// values that the caller skips.
//
//	s := jsonscan.New(text)
//	err := s.Object(func(name []byte) error {
//		switch string(name) {
//		case "shape":
//			return s.Array(func(i int) error { n, err := s.Int(); ...; return err })
//		}
//		return s.Skip()
//	})
//	err = errors.Join(err, s.End())
//
// It is for untrusted texts: it allocates nothing in proportion to a claim of the text, a caller
// can stop in the middle of a list, and nesting is bounded by [MaxDepth]. Unlike encoding/json it
// keeps the order of fields, accepts Python's NaN, Infinity and -Infinity, and refuses the escape
// of half a surrogate pair, which a Go string cannot hold.
//
// Every error is an [ErrSyntax] with the byte, or the error of a callback.
package jsonscan
