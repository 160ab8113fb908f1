package ragged_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The collections of the cases below, which are those of the Python package nested_ragged_tensors.
// What it returns was recorded; where ours differs on purpose, the row says so.
const (
	inA    = `{"ts":[[1,2,3],[4,5]],"id":[[[1,2,3],[3,4],[1,2]],[[3],[3,2,2]]]}`
	inB    = `{"s":[7,8,9],"ts":[[1,2],[3],[4,5,6]],"v":[[[],[3,0]],[[3,4,5]],[[],[],[2]]]}`
	inSeed = `{"tens_1":[0,1,2],"tens_2":[[1,2],[3],[4,5,6]],
		"tens_3":[[[],[3,0]],[[3,4,5]],[[],[],[2]]],"tens_4":[[[],[1,2]],[[1,8,0]],[[],[],[1]]]}`
)

// unsqueezed returns the collection of which j is the only row.
func unsqueezed(j *joint.Joint) (*joint.Joint, error) {
	return joint.Vstack([]*joint.Joint{j})
}

// squeezed returns what is in the only row.
func squeezed(j *joint.Joint) (*joint.Joint, error) { return j.Row(0) }

// ofInt64 returns the collection of lists of int64, which have the given depths though they may be
// empty.
func ofInt64(text string, depths ...int) (*joint.Joint, error) {
	lists := parsed(text).(map[string]any)
	var s tdict.Schema
	for i, name := range []string{"T", "Z", "ts", "c"} {
		if _, ok := lists[name]; ok {
			s = append(s, tdict.Spec{Key: nestedkey.Of(name), Kind: tdict.KindRagged, DType: tensor.Int64, Depth: depths[i]})
		}
	}
	return nrt.FromLists(lists, s)
}

// What lists become: how they are stored, or the error. What operations make of them, the cases of
// testdata/conformance and TestJointOracle hold.
func TestOriginalStorage(t *testing.T) {
	tests := []struct {
		name, in, want string
		err            error
	}{
		{"N01", inA, "id@2[1 2 3 3 4 1 2 3 3 2 2] ts@1[1 2 3 4 5] b1[3 5] b2[3 5 7 8 11]", nil},
		{"N02", inSeed, "tens_1@0[0 1 2] tens_2@1[1 2 3 4 5 6] tens_3@2[3 0 3 4 5 2] tens_4@2[1 2 1 8 0 1] b1[2 3 6] b2[0 2 5 5 5 6]", nil},
		{"N15", `{"D":[[[[5,6],[7]]],[[[8]],[[1]]],[[[9,10]]]]}`, "D@3[5 6 7 8 1 9 10] b1[1 3 4] b2[2 3 4 5] b3[2 3 4 5 7]", nil},
		{"N16", `{"ts":[[],[1]],"c":[[],[[5,6]]]}`, "c@2[5 6] ts@1[1] b1[0 1] b2[2]", nil},
		{"N60", `{"a":[[1,2],[3]],"b":[[1],[2,3]]}`, "", ragged.ErrLengths},
		{"N61 an empty list", `{"S":[]}`, "", ragged.ErrLengths},
		{"N61 a reserved name", `{"bounds":[1]}`, "", joint.ErrName},
		{"N61 another reserved name", `{"mask":[1]}`, "", joint.ErrName},
		{"N61 lists of several depths, deeper", `{"D":[[[[5,6],[7]],[[[8]],[[]]],[[[9,10]]]]]}`, "", ragged.ErrLengths},
		{"N61 lists of several depths", `{"D":[[1],2]}`, "", ragged.ErrLengths},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, err := jointOf(tt.in)
			if tt.err != nil {
				require.ErrorIs(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, storage(t, j))
		})
	}
}

// Lists without a value have the depth that a schema says.
func TestOriginalSchema(t *testing.T) {
	t.Run("N14", func(t *testing.T) {
		j, err := ofInt64(`{"ts":[[1,2],[3]],"c":[[[],[]],[[]]]}`, 0, 0, 1, 2)
		require.NoError(t, err)
		require.Equal(t, "c@2[] ts@1[1 2 3] b1[2 3] b2[0 0 0]", storage(t, j))
	})
	t.Run("N13 and N64", func(t *testing.T) {
		j, err := ofInt64(`{"T":[1,2],"Z":[[],[]]}`, 0, 1)
		require.NoError(t, err)
		require.Equal(t, "T@0[1 2] Z@1[] b1[0 0]", storage(t, j))
		d, err := j.Densify(ragged.DensifyOptions{Masks: "masks"})
		require.NoError(t, err)
		require.Equal(t, "T[2] [1 2]\nZ[2 0] [[] []] mask [[] []]", padded(t, d), "there Z is left out")
	})
	t.Run("N58", func(t *testing.T) {
		var all []*joint.Joint
		for _, text := range []string{`{"v":[[1,2],[3]]}`, `{"v":[[],[]]}`, `{"v":[[4]]}`} {
			s := tdict.Schema{{Key: "v", Kind: tdict.KindRagged, DType: tensor.Uint8, Depth: 1}}
			j, err := nrt.FromLists(parsed(text).(map[string]any), s)
			require.NoError(t, err)
			all = append(all, j)
		}
		j, err := joint.Concat(all, 0)
		require.NoError(t, err)
		require.Equal(t, "v@1[1 2 3 4] b1[2 3 3 3 4]", storage(t, j))
	})
}

// NB13: a dtype is a part of equality.
func TestOriginalEquality(t *testing.T) {
	of := func(x *tensor.Tensor) *joint.Joint {
		l := tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, []int64{2}))
		return tensor.Must(joint.New(joint.Field{Name: "a", Tensor: tensor.Must(ragged.New(x, l))}))
	}
	require.False(t, of(tensor.Vector[uint8](1, 2)).Equal(of(tensor.Vector[float64](1, 2))))
	require.True(t, of(tensor.Vector[uint8](1, 2)).Equal(of(tensor.Vector[uint8](1, 2))))
}

// N62: the dtype is the smallest that holds all values.
func TestOriginalDTypes(t *testing.T) {
	tests := []struct {
		low, high int
		want      tensor.DType
	}{
		{0, 255, tensor.Uint8}, {-1, 127, tensor.Int8}, {0, 256, tensor.Uint16}, {-129, 0, tensor.Int16},
		{0, 70000, tensor.Uint32}, {0, 1 << 32, tensor.Uint64}, {-1, 1 << 31, tensor.Int64},
	}
	for _, tt := range tests {
		t.Run(tt.want.String(), func(t *testing.T) {
			x, err := inferred([]any{[]any{tt.low, tt.high}})
			require.NoError(t, err)
			require.Equal(t, tt.want, x.DType())
		})
	}
}
