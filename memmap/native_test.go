package memmap_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
)

// TestNativeFields opens a dictionary whose leaf, or which itself, has native fields.
func TestNativeFields(t *testing.T) {
	tests := []struct {
		name      string
		entry, at string // in the leaf, and in the dictionary
		err       error
		text      string
	}{
		{"none", ``, ``, nil, ""},
		{"a version and nothing else", `,"go":{"v":1}`, `,"_go":[{"v":1}]`, nil, ""},
		{"what is not known", `,"go":{"v":1,"x":{"sums":[1,null]},"y":[NaN]}`, `,"_go":[{"v":1,"x":[{}]},{"v":1,"y":"\ud83e"}]`, nil, ""},
		{"an empty list", ``, `,"_go":[]`, nil, ""},
		{"sums", `,"go":{"v":1,"sums":["0123abcd"]}`, ``, nil, ""},
		{"the version comes last", `,"go":{"sums":["0123abcd"],"v":1}`, ``, nil, ""},
		{"a higher version of an entry", `,"go":{"v":2}`, ``, memmap.ErrUnsupported, "native fields of version 2: want 1 to 1"},
		{"a higher version, whatever it contains", `,"go":{"v":2,"sums":{"a":1}}`, ``, memmap.ErrUnsupported, "version 2"},
		{"a higher version that comes last", `,"go":{"sums":{"a":1},"v":2}`, ``, memmap.ErrUnsupported, "version 2"},
		{"a higher version of a dictionary", ``, `,"_go":[{"v":2,"growing":7}]`, memmap.ErrUnsupported, "version 2"},
		{"a higher version, in a second object", ``, `,"_go":[{"v":1},{"v":99}]`, memmap.ErrUnsupported, "version 99"},
		{"no version", `,"go":{"sums":["0123abcd"]}`, ``, memmap.ErrUnsupported, "version 0"},
		{"a version that is no integer", `,"go":{"v":"1"}`, ``, memmap.ErrCorrupt, "want a value"},
		{"an entry's that are no object", `,"go":[1]`, ``, memmap.ErrCorrupt, "want an object"},
		{"an entry's that are null", `,"go":null`, ``, memmap.ErrCorrupt, "want an object"},
		{"an entry's twice", `,"go":{"v":1},"go":{"v":1}`, ``, memmap.ErrCorrupt, `duplicate field "go"`},
		{"a dictionary's that are no list", ``, `,"_go":{"v":1}`, memmap.ErrCorrupt, "want a list"},
		{"a dictionary's that are no objects", ``, `,"_go":[1]`, memmap.ErrCorrupt, "want an object"},
		{"a dictionary's twice", ``, `,"_go":[],"_go":[]`, memmap.ErrCorrupt, `duplicate field "_go"`},
		{"sums that are no list", `,"go":{"v":1,"sums":7}`, ``, memmap.ErrCorrupt, "want a list"},
		{"a sum that is a number", `,"go":{"v":1,"sums":[7]}`, ``, memmap.ErrCorrupt, "want a string"},
		{"a sum that is too short", `,"go":{"v":1,"sums":["123abcd"]}`, ``, memmap.ErrCorrupt, `got the checksum "123abcd", want 8 hexadecimal digits`},
		{"a sum that is too long", `,"go":{"v":1,"sums":["00123abcd"]}`, ``, memmap.ErrCorrupt, "want 8 hexadecimal digits"},
		{"a sum of other letters", `,"go":{"v":1,"sums":["0123abcg"]}`, ``, memmap.ErrCorrupt, "want 8 hexadecimal digits"},
		{"a batch shape that is none", `,"go":{"v":1,"unbatched":[-1]}`, ``, memmap.ErrCorrupt, "got [-1], want no negative size"},
		{"a path of more names than can be nested", `,"go":{"v":1,"path":[""` + strings.Repeat(`,""`, 257) + `]}`, ``, memmap.ErrCorrupt, "a path of more than 256 names"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "x.memmap", "01234567")
			write(t, dir, "meta.json", `{"x":{"device":"cpu","shape":[8],"dtype":"torch.uint8","is_nested":false`+tt.entry+`},"shape":[8]`+tt.at+`,`+dictTail)
			ds, err := memmap.Open(dir)
			if tt.err == nil {
				require.NoError(t, err)
				require.Equal(t, 1, ds.NumEntries())
				require.NoError(t, ds.Close())
				return
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "open "+dir+": meta.json: "+tt.err.Error()+": ")
			require.ErrorContains(t, err, tt.text)
		})
	}
}

// TestNativeFieldsOfAnEntryCalledData: they are read once it is known to be an entry.
func TestNativeFieldsOfAnEntryCalledData(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "meta.json", `{"data":{"type":"TensorDict","go":{"v":2}},"shape":[],`+dictTail)
	_, err := memmap.Open(dir)
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	require.NotErrorIs(t, err, memmap.ErrCorrupt)
}
