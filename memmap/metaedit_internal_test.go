package memmap

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
)

// TestMetaEdit changes texts of this module, of Python and of later versions: all else keeps its
// bytes.
func TestMetaEdit(t *testing.T) {
	const (
		leaf  = `{"device":"cpu","shape":[1],"dtype":"torch.int8","is_nested":false`
		pyth  = `{"device": "cpu", "shape": [1], "dtype": "torch.int8", "is_nested": false`
		class = `"_type":"<class 'tensordict._td.TensorDict'>"`
	)
	sums := func(e *metaEdit) { e.setSums("a", []uint32{7}) }
	by := func(e *metaEdit) { e.setNative("by", []byte(`"me"`)) }
	gone := func(e *metaEdit) { e.setNative("by", nil) }
	add := func(e *metaEdit) { e.add(&metaEntry{name: "b", dtype: "torch.int8", shape: shapeops.Shape{2}}) }
	tests := []struct {
		name, text string
		edit       func(*metaEdit)
		want       string
	}{
		{"sums", `{"a":` + leaf + `,"go":{"v":1,"sums":["00000001"]}},"shape":[1],` + class + `}`, sums,
			`{"a":` + leaf + `,"go":{"v":1,"sums":["00000007"]}},"shape":[1],` + class + `}`},
		{"sums, beside what a later version adds", `{"a":` + leaf + `,"go":{"new":[{}],"v":1,"sums":[],"x":"\u00e9"},"y":0},"shape":[1],"_go":[{"v":1,"z":1}],` + class + `}`, sums,
			`{"a":` + leaf + `,"go":{"new":[{}],"v":1,"sums":["00000007"],"x":"\u00e9"},"y":0},"shape":[1],"_go":[{"v":1,"z":1}],` + class + `}`},
		{"a fact", `{"shape":[1],` + class + `}`, by, `{"shape":[1],` + class + `,"_go":[{"v":1,"by":"me"}]}`},
		{"a fact, beside others", `{"_go":[{"v":1,"names":["n"]},{"v":1,"new":2,"by":"you"}],"shape":[1],` + class + `}`, by,
			`{"_go":[{"v":1,"names":["n"],"by":"me"},{"v":1,"new":2}],"shape":[1],` + class + `}`},
		{"a fact, in an empty list", `{"_go":[],"shape":[1],` + class + `}`, by, `{"_go":[{"v":1,"by":"me"}],"shape":[1],` + class + `}`},
		{"no fact any more", `{"_go":[{"v":1,"by":"me"}],"shape":[1],` + class + `}`, gone, `{"shape":[1],` + class + `}`},
		{"no fact, and none before", `{"shape":[1],` + class + `}`, gone, `{"shape":[1],` + class + `}`},
		{"an entry, as Python spells", ` {"\u00e9": ` + pyth + `}, "shape": [1], "n": 1e5, ` + class + ` } `, add,
			`{"\u00e9": ` + pyth + `}, "shape": [1], "n": 1e5, ` + class + `,"b":{"device":"cpu","shape":[2],"dtype":"torch.int8","is_nested":false}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{tt.text, string(withMetaSum([]byte(tt.text)))} {
				e, err := newMetaEdit([]byte(text))
				require.NoError(t, err)
				tt.edit(e)
				require.Equal(t, string(withMetaSum([]byte(tt.want))), string(e.sealed()))
			}
		})
	}
	for _, text := range []string{``, `[]`, `{`, `{"shape":[1],` + class + `,"a":1,}`, `{"shape":[1],` + class + `}}`, `{"shape":[1],"shape":[1],` + class + `}`} {
		require.ErrorIs(t, testkit.Err(newMetaEdit([]byte(text))), ErrCorrupt)
	}
}
