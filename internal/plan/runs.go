package plan

import (
	"fmt"

	"github.com/go-tensordict/tensordict/shape"
)

// CheckRuns returns [shape.ErrIndex] unless every run lies in rows 0 to to-1 of the destination and
// rows 0 to from-1 of the source.
func CheckRuns(runs []shape.Run, to, from int) error {
	for i, r := range runs {
		switch {
		case r.Len < 0:
			return fmt.Errorf("%w: run %d: got length %d, want 0 or more", shape.ErrIndex, i, r.Len)
		case r.To < 0 || r.To > to-r.Len:
			return fmt.Errorf("%w: run %d: got %d rows from row %d of the destination, which has %d rows", shape.ErrIndex, i, r.Len, r.To, to)
		case r.From < 0 || r.From > from-r.Len:
			return fmt.Errorf("%w: run %d: got %d rows from row %d of the source, which has %d rows", shape.ErrIndex, i, r.Len, r.From, from)
		}
	}
	return nil
}
