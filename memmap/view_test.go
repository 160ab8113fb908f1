package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// saveView writes a view, by an index, of a dictionary [4] with a counting from 0 and b in n.
func saveView(t *testing.T, index string) (dir string) {
	dir = filepath.Join(t.TempDir(), "view")
	source := tdict.New(4)
	require.NoError(t, source.Set("a", tensor.Must(tensor.From([]int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 4, 3))))
	require.NoError(t, source.Set("n/b", tensor.Vector[int64](0, 1, 2, 3)))
	require.NoError(t, memmap.Save(filepath.Join(dir, "_source"), source))
	write(t, dir, "meta.json", `{"_type":"<class 'tensordict._td._SubTensorDict'>"`+index+`}`)
	return dir
}

// What Python 0.14 wrote for each index, and what it read back, and the forms before it, without
// tags.
func TestViews(t *testing.T) {
	tests := []struct {
		name, index string
		batch       []int
		b           []int64
	}{
		{"a slice", `["tuple",[["slice",{"start":1,"stop":3,"step":null}]]]`, []int{2}, []int64{1, 2}},
		{"a slice by steps", `["tuple",[["slice",{"start":null,"stop":null,"step":2}]]]`, []int{2}, []int64{0, 2}},
		{"a slice from the end", `["tuple",[["slice",{"start":-2,"stop":null,"step":null}]]]`, []int{2}, []int64{2, 3}},
		{"a tensor", `["tuple",[["tensor",[0,2],"cpu"]]]`, []int{2}, []int64{0, 2}},
		{"a tensor of two dims", `["tuple",[["tensor",[[0,1],[2,3]],"cpu"]]]`, []int{2, 2}, []int64{0, 1, 2, 3}},
		{"a tensor without dims", `["tuple",[["tensor",2,"cpu"]]]`, []int{}, []int64{2}},
		{"a mask", `["tuple",[["tensor",[true,false,true,false],"cpu"]]]`, []int{2}, []int64{0, 2}},
		{"a range", `["tuple",[["range",{"start":0,"stop":2,"step":1}]]]`, []int{2}, []int64{0, 1}},
		{"a range backwards", `["tuple",[["range",{"start":3,"stop":0,"step":-2}]]]`, []int{2}, []int64{3, 1}},
		{"a position", `["tuple",[2]]`, []int{}, []int64{2}},
		{"a position from the end", `["tuple",[-1]]`, []int{}, []int64{3}},
		{"a new dim", `["tuple",[null]]`, []int{1, 4}, []int64{0, 1, 2, 3}},
		{"a bool", `["tuple",[true]]`, []int{1, 4}, []int64{0, 1, 2, 3}},
		{"a slice and a new dim", `["tuple",[["slice",{"start":0,"stop":2,"step":null}],null]]`, []int{2, 1}, []int64{0, 1}},
		{"an ellipsis", `["tuple",[["ellipsis"]]]`, []int{4}, []int64{0, 1, 2, 3}},
		{"a list", `["tuple",[["list",[3,0]]]]`, []int{2}, []int64{3, 0}},
		{"a list by itself", `["list",[3,0]]`, []int{2}, []int64{3, 0}},
		{"a tuple without a tag", `[1]`, []int{}, []int64{1}},
		{"a list without a tag", `[[3,0]]`, []int{2}, []int64{3, 0}},
		{"nothing", `["tuple",[]]`, []int{4}, []int64{0, 1, 2, 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := saveView(t, `,"index":`+tt.index)
			ds := open(t, dir)
			require.Equal(t, tt.batch, []int(ds.Shape().Clone()))
			require.Equal(t, tt.b, testkit.Elements[int64](t, tensor.Must(ds.Tensor("n/b"))))
			again := filepath.Join(t.TempDir(), "again")
			require.NoError(t, memmap.Save(again, ds.TensorDict))
			require.True(t, open(t, again).TensorDict.Equal(ds.TensorDict), "saved as what it shows")
		})
	}
}

// A view is mapped where strides say it: what is written is in the source.
func TestViewsAreWritten(t *testing.T) {
	dir := saveView(t, `,"index":["tuple",[["slice",{"start":1,"stop":3,"step":null}]]]`)
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	nine := tdict.New()
	require.NoError(t, nine.Set("n/b", tensor.Must(tensor.Full[int64](9))))
	require.NoError(t, ds.SetIndex(nine, ix.At(0)))
	require.NoError(t, ds.Close())
	source := open(t, filepath.Join(dir, "_source"))
	require.Equal(t, []int64{0, 9, 2, 3}, testkit.Elements[int64](t, tensor.Must(source.Tensor("n/b"))))
}

func TestViewsRefused(t *testing.T) {
	tests := []struct {
		name, index string
		opt         memmap.OpenOptions
		want        error
		text        string
	}{
		{"no index", ``, memmap.OpenOptions{}, memmap.ErrCorrupt, `no field "index"`},
		{"a position outside", `,"index":["tuple",[4]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `field "index": index: `},
		{"a row outside", `,"index":["tuple",[["tensor",[0,9],"cpu"]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `field "index": index: `},
		{"a range outside", `,"index":["tuple",[["range",{"start":0,"stop":9,"step":1}]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `field "index": index: `},
		{"a range without end", `,"index":["tuple",[["range",{"start":0,"stop":1000000000000,"step":1}]]]`, memmap.OpenOptions{MaxCopy: 1 << 20}, memmap.ErrUnsupported, `raise MaxCopy`},
		{"a range by nothing", `,"index":["tuple",[["range",{"start":0,"stop":4,"step":0}]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `a range with step 0`},
		{"a slice backwards", `,"index":["tuple",[["slice",{"start":0,"stop":4,"step":-1}]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `want at least 1`},
		{"a mask of another size", `,"index":["tuple",[["tensor",[true,false],"cpu"]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `field "index": index: `},
		{"lists of two lengths", `,"index":["tuple",[["tensor",[[1],[1,2]],"cpu"]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `different lengths`},
		{"numbers and bools", `,"index":["tuple",[["tensor",[1,true],"cpu"]]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `both numbers and bools`},
		{"too many parts", `,"index":["tuple",[0,0]]`, memmap.OpenOptions{}, memmap.ErrCorrupt, `field "index": index: `},
		{"a tag that is none", `,"index":["tuple",[["set",[0]]]]`, memmap.OpenOptions{}, memmap.ErrUnsupported, `an index of kind "set"`},
		{"false", `,"index":["tuple",[false]]`, memmap.OpenOptions{}, memmap.ErrUnsupported, `got false`},
		{"several bools", `,"index":["tuple",[true,true]]`, memmap.OpenOptions{}, memmap.ErrUnsupported, `a second bool`},
		{"a copy that is written", `,"index":["tuple",[["tensor",[0],"cpu"]]]`, memmap.OpenOptions{Writable: true}, memmap.ErrUnsupported, `cannot be opened Writable`},
		{"a copy that is too large", `,"index":["tuple",[["tensor",[0],"cpu"]]]`, memmap.OpenOptions{MaxCopy: 64}, memmap.ErrUnsupported, `raise MaxCopy`},
		{"nested without end", `,"index":["tuple",[` + nestedLists(100) + `]]`, memmap.OpenOptions{}, memmap.ErrUnsupported, `raise MaxCopy`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := memmap.OpenWith(saveView(t, tt.index), tt.opt)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, "meta.json: ")
			require.ErrorContains(t, err, tt.text)
		})
	}
}

// nestedLists returns lists in one another.
func nestedLists(n int) string {
	if n == 0 {
		return "0"
	}
	return "[" + nestedLists(n-1) + "]"
}
