// Package jsonscan reads one JSON text from memory, value by value and in order, without keeping
// what the caller passes over.
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
// It is for texts that nobody vouches for: nothing is allocated in proportion to what a text
// claims, a caller can refuse in the middle of a list, and nesting is bounded by [MaxDepth]. Unlike
// encoding/json it keeps the order of fields, accepts what Python writes for numbers that are none
// (NaN, Infinity, -Infinity), and refuses the escape of half a character, which Go cannot spell.
//
// Every error is an [ErrSyntax] that says at which byte, or what a callback returned.
package jsonscan
