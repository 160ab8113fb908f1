package shapeops

import "fmt"

// A Run is a stretch of rows along dim 0 that is moved as one: Len rows from position From of the
// source to position To of the destination.
type Run struct{ To, From, Len int }

// CheckRuns returns [ErrIndex] unless every run lies within so many rows of the destination and of
// the source.
func CheckRuns(runs []Run, to, from int) error {
	for i, r := range runs {
		switch {
		case r.Len < 0:
			return fmt.Errorf("%w: run %d: got length %d, want none negative", ErrIndex, i, r.Len)
		case r.To < 0 || r.To > to-r.Len:
			return fmt.Errorf("%w: run %d: got %d rows from %d on, want them within the %d of the destination", ErrIndex, i, r.Len, r.To, to)
		case r.From < 0 || r.From > from-r.Len:
			return fmt.Errorf("%w: run %d: got %d rows from %d on, want them within the %d of the source", ErrIndex, i, r.Len, r.From, from)
		}
	}
	return nil
}
