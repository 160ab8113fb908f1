package picture_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/view/internal/picture"
)

func TestLabelOf(t *testing.T) {
	tests := []struct {
		name    string
		key     nestedkey.Key
		scalars []nestedkey.Key
		want    nestedkey.Key // "-" for none
	}{
		{"none", "image", nil, "-"},
		{"another name", "image", []nestedkey.Key{"index", "labels", "Label"}, "-"},
		{"in the same dictionary", "image", []nestedkey.Key{"index", "y"}, "y"},
		{"names in order", "image", []nestedkey.Key{"y", "class", "label", "target"}, "label"},
		{"in a dictionary beside it", "image", []nestedkey.Key{"meta/index", "meta/label"}, "meta/label"},
		{"the same dictionary first", "image", []nestedkey.Key{"meta/label", "y"}, "y"},
		{"equal names in the order of the data", "image", []nestedkey.Key{"b/label", "a/label"}, "b/label"},
		{"nested", "a/image", []nestedkey.Key{"a/target"}, "a/target"},
		{"nested, in a dictionary beside it", "a/image", []nestedkey.Key{"a/b/target"}, "a/b/target"},
		{"in a dictionary beside its dictionary", "inputs/image", []nestedkey.Key{"targets/class"}, "targets/class"},
		{"beside it before beside its dictionary", "a/image", []nestedkey.Key{"b/label", "a/c/y"}, "a/c/y"},
		{"too deep", "image", []nestedkey.Key{"a/b/label"}, "-"},
		{"too high", "a/image", []nestedkey.Key{"label"}, "-"},
		{"elsewhere", "a/b/image", []nestedkey.Key{"c/d/label"}, "-"},
		{"not itself", "label", []nestedkey.Key{"label"}, "-"},
		{"the empty key", "", []nestedkey.Key{"", "y"}, "y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := picture.LabelOf(tt.key, slices.Values(tt.scalars))
			if tt.want == "-" {
				require.False(t, ok, got)
				return
			}
			require.True(t, ok)
			require.Equal(t, tt.want, got)
		})
	}
}
