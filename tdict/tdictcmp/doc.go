// Package tdictcmp has options for [cmp.Diff] and [cmp.Equal] of package
// github.com/google/go-cmp/cmp. With these options, they compare dictionaries and tensors, alone or
// inside other values.
//
//	if diff := cmp.Diff(want, got, tdictcmp.Options...); diff != "" {
//		t.Errorf("batch differs (-want +got):\n%s", diff)
//	}
//
// The text has the keys that differ, and the first elements that differ in each leaf:
//
//	Leaves: map[nestedkey.Key]*tdictcmp.leaf{
//		"done": s"bool [3]",
//	-	"obs/x": s"float32 [3 2], 2 differ: [0 1]=0.5 [2 0]=7",
//	+	"obs/x": s"float32 [3 2], 2 differ: [0 1]=0.25 [2 0]=8",
//	}
//
// If both sides would have the same text, as for NaN, which differs from itself, one of them has
// the reason added.
//
// [Within] returns options with a tolerance.
package tdictcmp
