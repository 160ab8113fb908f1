package ragged_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// What the original gets wrong comes out right: NB8 is in TestOriginalDense.
func TestOriginalDefects(t *testing.T) {
	masked := func(bits ...bool) change {
		return func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Mask(bits)) }
	}
	flatten := func(in, first, repeat, drop string) []defect {
		all := []defect{
			{"NB7 repeat", in, flattening(joint.Repeat), repeat, nil},
			{"NB7 drop", in, flattening(joint.Drop), drop, nil},
			{"NB7 first", in, flattening(joint.First), first, nil},
		}
		if first == "" {
			all[2].err = ragged.ErrLengths
		}
		return all
	}
	tests := []defect{
		{"NB1 outer lengths differ", `{"tens_1":[0,1,2],"tens_2":[[1,2],[4,5,6]]}`, nil, "", ragged.ErrLengths},
		{"NB1 at depth 0", `{"a":[0,1,2],"b":[1,2]}`, nil, "", ragged.ErrLengths},
		{"NB2 a row of a row", inID, going(ix.At(1), ix.At(0)), "id@0[3]", nil},
		{"NB2 all rows of a row", inID, going(ix.At(0), ix.Range(0, 99)), "id@1[1 2 3 3 4 1 2] b1[3 5 7]", nil},
		{"NB2 the last rows of a row", inID, going(ix.At(1), ix.Range(1, ix.End)), "id@1[3 2 2] b1[3]", nil},
		{"NB3 beyond the end", inA, ranging(0, 100), allA, nil},
		{"NB3 from the last row", inA, ranging(1, 100), "id@2[3 3 2 2] ts@1[4 5] b1[2] b2[1 4]", nil},
		{"NB4 the last row", inA, ranging(-1, ix.End), "id@2[3 3 2 2] ts@1[4 5] b1[2] b2[1 4]", nil},
		{"NB4 all but the last", inA, ranging(0, -1), "id@2[1 2 3 3 4 1 2] ts@1[1 2 3] b1[3] b2[3 5 7]", nil},
		{"NB4 the last row of a row", inA, going(ix.At(0), ix.Range(-1, ix.End)), "id@1[1 2] ts@0[3] b1[2]", nil},
		{"NB4 beyond both ends", inA, ranging(-99, 99), allA, nil},
		{"NB5 a part joined with the whole", inA, func(j *joint.Joint) (*joint.Joint, error) {
			part, err := j.Range(0, 1)
			if err != nil {
				return nil, err
			}
			return joint.Concat([]*joint.Joint{part, j}, 0)
		}, "id@2[1 2 3 3 4 1 2 1 2 3 3 4 1 2 3 3 2 2] ts@1[1 2 3 1 2 3 4 5] b1[3 6 8] b2[3 5 7 10 12 14 15 18]", nil},
		{"NB6 rows keep fields of depth 0", inB, taking(0, 2), "s@0[7 9] ts@1[1 2 4 5 6] v@2[3 0 2] b1[2 5] b2[0 2 2 2 3]", nil},
		{"NB6 stacked rows too", inB, rejoined(0, 1), "s@0[7 8] ts@1[1 2 3] v@2[3 0 3 4 5] b1[2 3] b2[0 2 5]", nil},
		{"NB6 fields of depth 0 alone", `{"s":[1,2,3]}`, taking(0, 2), "s@0[1 3]", nil},
		{"NB6 and stacked", `{"s":[1,2,3]}`, rejoined(2, 0), "s@0[3 1]", nil},
		{"NB10 the empty path", inA, going(), allA, nil},
		{"NB11 a mask", inA, masked(false, true), "id@2[3 3 2 2] ts@1[4 5] b1[2] b2[1 4]", nil},
		{"NB11 a list of none", inA, taking(), "id@2[] ts@1[] b1[] b2[]", nil},
		{"NB12 a slash in a name", `{"a/b":[1]}`, nil, "", joint.ErrName},
	}
	tests = append(tests, flatten(`{"ts":[1,2],"id":[[1,2],[]]}`, "", "id@0[1 2] ts@0[1 1]", "id@0[1 2]")...)
	tests = append(tests, flatten(`{"ts":[1,2,3],"id":[[1,2],[],[3]]}`, "", "id@0[1 2 3] ts@0[1 1 3]", "id@0[1 2 3]")...)
	tests = append(tests, flatten(`{"ts":[1,2],"id":[[],[3,4]]}`, "", "id@0[3 4] ts@0[2 2]", "id@0[3 4]")...)
	tests = append(tests, flatten(`{"c":[[],[[1,2],[3]]]}`, "c@1[1 2 3] b1[0 3]", "c@1[1 2 3] b1[0 3]", "c@1[1 2 3] b1[0 3]")...)
	for _, tt := range tests {
		t.Run(tt.name, tt.run)
	}
}

// A defect is an operation that the original gets wrong, and what is right.
type defect struct {
	name, in string
	do       change
	want     string
	err      error
}

func (d defect) run(t *testing.T) {
	j, err := jointOf(d.in)
	if err == nil && d.do != nil {
		j, err = d.do(j)
	}
	if d.err != nil {
		require.ErrorIs(t, err, d.err)
		return
	}
	require.NoError(t, err)
	require.Equal(t, d.want, storage(t, j))
}

func TestOriginalDefectsOfTypes(t *testing.T) {
	t.Run("NB11 a position of any kind is an int", func(t *testing.T) {
		j, err := jointOf(inA)
		require.NoError(t, err)
		row, err := j.Row(int(int64(1)))
		require.NoError(t, err)
		require.Equal(t, "id@1[3 3 2 2] ts@0[4 5] b1[1 4]", storage(t, row))
	})
	t.Run("NB13 a dtype is a part of equality", func(t *testing.T) {
		of := func(x *tensor.Tensor) *joint.Joint {
			l := tensor.Must(ragged.LayoutOf(shapeops.Shape{1}, []int64{2}))
			return tensor.Must(joint.New(joint.Field{Name: "a", Tensor: tensor.Must(ragged.New(x, l))}))
		}
		require.False(t, of(tensor.Vector[uint8](1, 2)).Equal(of(tensor.Vector[float64](1, 2))))
		require.True(t, of(tensor.Vector[uint8](1, 2)).Equal(of(tensor.Vector[uint8](1, 2))))
	})
	t.Run("NB14 empty lists have the depth of the schema", func(t *testing.T) {
		empty, err := ofInt64(`{"c":[[],[]]}`, 0, 0, 0, 2)
		require.NoError(t, err)
		full, err := ofInt64(`{"c":[[[1],[2,3]]]}`, 0, 0, 0, 2)
		require.NoError(t, err)
		j, err := joint.Concat([]*joint.Joint{empty, full}, 0)
		require.NoError(t, err)
		require.Equal(t, "c@2[1 2 3] b1[0 0 2] b2[1 3]", storage(t, j))
	})
	t.Run("NB15 rows may be slices of several types", func(t *testing.T) {
		x, err := ragged.From[int64]([]any{[]int64{1, 2}, []any{int64(3)}})
		require.NoError(t, err)
		require.Equal(t, "[1 2 3]", nested(t, tensor.Must(x.Values())))
		x, err = inferred([]any{[]int64{1, 2}, []any{3}})
		require.NoError(t, err)
		require.Equal(t, "[1 2 3]", nested(t, tensor.Must(x.Values())))
	})
}
