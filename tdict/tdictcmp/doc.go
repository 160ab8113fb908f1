// Package tdictcmp has options for [cmp.Diff] and [cmp.Equal] of package
// github.com/google/go-cmp/cmp. With them, these compare dictionaries and tensors, alone or within
// other values.
//
//	if diff := cmp.Diff(want, got, tdictcmp.Options...); diff != "" {
//		t.Errorf("batch differs (-want +got):\n%s", diff)
//	}
//
// The text has the keys that differ, and of each leaf the first elements that do:
//
//	Leaves: map[nestedkey.Key]*tdictcmp.leaf{
//		"done": s"bool [3]",
//	-	"obs/x": s"float32 [3 2], 2 differ: [0 1]=0.5 [2 0]=7",
//	+	"obs/x": s"float32 [3 2], 2 differ: [0 1]=0.25 [2 0]=8",
//	}
//
// If both sides have the same text, one says why they differ, as NaN does from itself.
//
// [Within] returns options with a tolerance.
package tdictcmp
