package conformance

import (
	"errors"
	"fmt"

	"github.com/go-tensordict/tensordict/shapeops"
)

// A correction is a rule by which a case that records a defect of the original is checked
// otherwise: its operation must fail with an error that is err.
type correction struct {
	op      string
	applies func(c testCase) bool
	err     error
	why     string
}

var corrections = []correction{{
	op: "cat",
	applies: func(c testCase) bool {
		return arg[int](c, "dim") < -len(c.dicts()[0].Shape())
	},
	err: shapeops.ErrDim,
	why: "the original adds the number of dims to a negative dim and takes what is still negative as counted from the " +
		"last dim of each leaf, which comes after the batch shape; with one input it gets away with it",
}}

// corrected returns the correction for a case, or nil.
func corrected(c testCase) *correction {
	for i, fix := range corrections {
		if fix.op == c.Op && c.Error == nil && fix.applies(c) {
			return &corrections[i]
		}
	}
	return nil
}

func (fix *correction) check(c testCase, in []dict, got any, err error) error {
	fmt.Printf("corrected %s: want %v: %s\n", c.ID, fix.err, fix.why)
	if !errors.Is(err, fix.err) {
		return fmt.Errorf("got %v, %v, want %v", got, err, fix.err)
	}
	return unchanged(c, in)
}
