package tdictcmp_test

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tdictcmp"
	"github.com/go-tensordict/tensordict/tensor"
)

// Tests can compare dictionaries with cmp.Diff. Its text is for people and not stable.
func ExampleWithin() {
	a, b := tdict.New(2), tdict.New(2)
	_ = a.Set("obs/x", tensor.Vector(1.0, 2))
	_ = b.Set("obs/x", tensor.Vector(1.0, 2.001))
	fmt.Println(cmp.Equal(a, b, tdictcmp.Options...))
	fmt.Println(cmp.Equal(a, b, tdictcmp.Within(tensor.Tolerance{Relative: 0.01})...))
	// Output:
	// false
	// true
}
