package forms

import (
	"context"
	"errors"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// SplitOptions say how [Split] deals rows. Fractions or Counts must be given.
type SplitOptions struct {
	Options
	Fractions []float64     // of the rows, or of the groups; they add up to 1
	Counts    []int         // of rows, or of groups; they add up to their number
	Names     []string      // of the parts, whose suffixes tell forms; nil means 0, 1 and so on
	By        nestedkey.Key // of integers, bools or text: rows with equal values are one group
	Seed      uint64
}

// Split deals the rows of a dataset to parts, in a directory.
func Split(ctx context.Context, to, from string, opt SplitOptions) error {
	return errors.ErrUnsupported
}
