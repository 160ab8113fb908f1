package ragged_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// The collections of the cases below, which are those of the Python package nested_ragged_tensors.
// What it returns was recorded; where ours differs on purpose, the row says so.
const (
	inA    = `{"ts":[[1,2,3],[4,5]],"id":[[[1,2,3],[3,4],[1,2]],[[3],[3,2,2]]]}`
	inID   = `{"id":[[[1,2,3],[3,4],[1,2]],[[3],[3,2,2]]]}`
	inB    = `{"s":[7,8,9],"ts":[[1,2],[3],[4,5,6]],"v":[[[],[3,0]],[[3,4,5]],[[],[],[2]]]}`
	inC    = `{"ts":[[1],[],[2,3]],"c":[[[4]],[],[[5,6],[]]]}`
	inSeed = `{"tens_1":[0,1,2],"tens_2":[[1,2],[3],[4,5,6]],
		"tens_3":[[[],[3,0]],[[3,4,5]],[[],[],[2]]],"tens_4":[[[],[1,2]],[[1,8,0]],[[],[],[1]]]}`

	allA = "id@2[1 2 3 3 4 1 2 3 3 2 2] ts@1[1 2 3 4 5] b1[3 5] b2[3 5 7 8 11]"
)

type change = func(j *joint.Joint) (*joint.Joint, error)

func going(expr ...ix.Index) change {
	return func(j *joint.Joint) (*joint.Joint, error) { return j.Index(expr...) }
}

func taking(rows ...int) change {
	return func(j *joint.Joint) (*joint.Joint, error) { return j.Index(ix.Take(rows...)) }
}

func ranging(start, stop int) change {
	return func(j *joint.Joint) (*joint.Joint, error) { return j.Range(start, stop) }
}

func flattening(mode joint.FlattenMode) change {
	return func(j *joint.Joint) (*joint.Joint, error) { return j.FlattenLevel(-1, mode) }
}

// unsqueezed returns the collection of which j is the only row.
func unsqueezed(j *joint.Joint) (*joint.Joint, error) {
	return joint.Vstack([]*joint.Joint{j})
}

// squeezed returns what is in the only row.
func squeezed(j *joint.Joint) (*joint.Joint, error) { return j.Row(0) }

// then returns what changes make one after the other.
func then(changes ...change) change {
	return func(j *joint.Joint) (*joint.Joint, error) {
		for _, do := range changes {
			var err error
			if j, err = do(j); err != nil {
				return nil, err
			}
		}
		return j, nil
	}
}

// with returns what joins the receiver and other collections.
func with(join func([]*joint.Joint) (*joint.Joint, error), texts ...string) change {
	return func(j *joint.Joint) (*joint.Joint, error) {
		all := []*joint.Joint{j}
		for _, text := range texts {
			x, err := jointOf(text)
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		return join(all)
	}
}

// rejoined takes a collection apart by Row and stacks the parts again.
func rejoined(rows ...int) change {
	return func(j *joint.Joint) (*joint.Joint, error) {
		var all []*joint.Joint
		for _, i := range rows {
			x, err := j.Row(i)
			if err != nil {
				return nil, err
			}
			all = append(all, x)
		}
		return joint.Vstack(all)
	}
}

// ofDepth2 makes the collection of a list of integers that are two deep, though it may be empty.
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

// concat concatenates rows after rows.
func concat(js []*joint.Joint) (*joint.Joint, error) { return joint.Concat(js, 0) }

// What becomes of a collection: how it is stored then, or the error.
func TestOriginalStorage(t *testing.T) {
	tests := []struct {
		name, in string
		do       change
		want     string
		err      error
	}{
		{"N01", inA, nil, allA, nil},
		{"N02", inSeed, nil, "tens_1@0[0 1 2] tens_2@1[1 2 3 4 5 6] tens_3@2[3 0 3 4 5 2] tens_4@2[1 2 1 8 0 1] b1[2 3 6] b2[0 2 5 5 5 6]", nil},
		{"N15", `{"D":[[[[5,6],[7]]],[[[8]],[[1]]],[[[9,10]]]]}`, nil, "D@3[5 6 7 8 1 9 10] b1[1 3 4] b2[2 3 4 5] b3[2 3 4 5 7]", nil},
		{"N16", `{"ts":[[],[1]],"c":[[],[[5,6]]]}`, nil, "c@2[5 6] ts@1[1] b1[0 1] b2[2]", nil},
		{"N17", inA, going(ix.At(0)), "id@1[1 2 3 3 4 1 2] ts@0[1 2 3] b1[3 5 7]", nil},
		{"N18", inA, going(ix.At(-1)), "id@1[3 3 2 2] ts@0[4 5] b1[1 4]", nil},
		{"N19", inA, going(ix.At(2)), "", shapeops.ErrIndex},
		{"N20", inA, ranging(1, 2), "id@2[3 3 2 2] ts@1[4 5] b1[2] b2[1 4]", nil},
		{"N21 a range clips", inA, ranging(0, 100), allA, nil},
		{"N22 a negative start counts from the end", inA, ranging(-1, ix.End), "id@2[3 3 2 2] ts@1[4 5] b1[2] b2[1 4]", nil},
		{"N23 so does a negative stop", inA, ranging(0, -1), "id@2[1 2 3 3 4 1 2] ts@1[1 2 3] b1[3] b2[3 5 7]", nil},
		{"N24 from the end on", inA, ranging(2, ix.End), "id@2[] ts@1[] b1[] b2[]", nil},
		{"N24 of no row", inA, ranging(1, 1), "id@2[] ts@1[] b1[] b2[]", nil},
		{"N24 beyond the end", inA, ranging(5, ix.End), "id@2[] ts@1[] b1[] b2[]", nil},
		{"N25 a step is an index, there an error", inA, func(j *joint.Joint) (*joint.Joint, error) {
			return j.Index(ix.Range(0, ix.End).Step(2))
		}, "id@2[1 2 3 3 4 1 2] ts@1[1 2 3] b1[3] b2[3 5 7]", nil},
		{"N25 in a row too", inA, going(ix.At(0), ix.Range(0, ix.End).Step(2)), "id@1[1 2 3 1 2] ts@0[1 3] b1[3 5]", nil},
		{"N26", inA, going(ix.At(0), ix.At(1)), "id@0[3 4] ts@scalar[2]", nil},
		{"N27", inA, going(ix.At(0), ix.At(-1)), "id@0[1 2] ts@scalar[3]", nil},
		{"N28", inA, going(ix.At(0), ix.Range(1, ix.End)), "id@1[3 4 1 2] ts@0[2 3] b1[2 4]", nil},
		{"N29", inA, going(ix.At(1), ix.Range(1, ix.End)), "id@1[3 2 2] ts@0[5] b1[3]", nil},
		{"N30", inA, going(ix.At(0), ix.Range(0, 99)), "id@1[1 2 3 3 4 1 2] ts@0[1 2 3] b1[3 5 7]", nil},
		{"N31", inID, going(ix.At(1), ix.At(0)), "id@0[3]", nil},
		{"N32", inA, going(ix.At(0), ix.At(1), ix.At(1)), "id@scalar[4] ts@scalar[2]", nil},
		{"N33", inA, going(ix.At(0), ix.At(1), ix.Range(0, 1)), "id@0[3] ts@scalar[2]", nil},
		{"N34 no such row", inA, going(ix.At(0), ix.At(3)), "", shapeops.ErrIndex},
		{"N34 too many parts", inA, going(ix.At(0), ix.At(0), ix.At(0), ix.At(0)), "", shapeops.ErrIndex},
		{"N34 a range before the last part", inA, going(ix.Range(0, 1), ix.At(0)), "", shapeops.ErrIndex},
		{"N35", inA, taking(1, 0), "id@2[3 3 2 2 1 2 3 3 4 1 2] ts@1[4 5 1 2 3] b1[2 5] b2[1 4 7 9 11]", nil},
		{"N36", inA, taking(1, 1), "id@2[3 3 2 2 3 3 2 2] ts@1[4 5 4 5] b1[2 4] b2[1 4 5 8]", nil},
		{"N37", inA, taking(0, 5), "", shapeops.ErrIndex},
		{"N38", inB, taking(0, 2), "s@0[7 9] ts@1[1 2 4 5 6] v@2[3 0 2] b1[2 5] b2[0 2 2 2 3]", nil},
		{"N40", inB, then(ranging(1, ix.End), going(ix.At(1))), "s@scalar[9] ts@0[4 5 6] v@1[2] b1[0 0 1]", nil},
		{"N41", inB, going(ix.At(2), ix.At(0)), "s@scalar[9] ts@scalar[4] v@0[]", nil},
		{"N42", inC, ranging(1, 3), "c@2[5 6] ts@1[2 3] b1[0 2] b2[2 2]", nil},
		{"N43", inC, taking(1, 0), "c@2[4] ts@1[1] b1[0 1] b2[1]", nil},
		{"N45", inA, unsqueezed, "id@3[1 2 3 3 4 1 2 3 3 2 2] ts@2[1 2 3 4 5] b1[2] b2[3 5] b3[3 5 7 8 11]", nil},
		{"N45 and back", inA, then(unsqueezed, squeezed), allA, nil},
		{"N46", inB, unsqueezed, "s@1[7 8 9] ts@2[1 2 3 4 5 6] v@3[3 0 3 4 5 2] b1[3] b2[2 3 6] b3[0 2 5 5 5 6]", nil},
		{"N47", `{"T":[[1,2]],"id":[[[1,2,3],[3]]]}`, squeezed, "T@0[1 2] id@1[1 2 3 3] b1[3 4]", nil},
		{"N48", inA, flattening(joint.First), "id@1[1 2 3 3 4 1 2 3 3 2 2] ts@1[1 0 0 2 0 3 0 4 5 0 0] b1[7 11]", nil},
		{"N49", `{"ts":[1,2,3],"id":[[1,2,3],[3,4],[1,2]]}`, flattening(joint.First), "id@0[1 2 3 3 4 1 2] ts@0[1 0 0 2 0 3 0]", nil},
		{"N50", inA, then(flattening(joint.First), flattening(joint.First)), "id@0[1 2 3 3 4 1 2 3 3 2 2] ts@0[1 0 0 2 0 3 0 4 5 0 0]", nil},
		{"N51", `{"ts":[1,2,3],"id":[[1],[3,4],[1]],"D":[[[[5,6],[7]]],[[[8]],[[]]],[[[9,10]]]]}`, flattening(joint.First),
			"D@2[5 6 7 8 9 10] id@1[1 3 4 1] ts@0[1 2 3] b1[1 3 4] b2[3 4 4 6]", nil},
		{"N52", `{"c":[[],[[1,2],[3]]]}`, flattening(joint.First), "c@1[1 2 3] b1[0 3]", nil},
		{"N53", `{"c":[[[1]],[],[[2,3]]]}`, flattening(joint.First), "c@1[1 2 3] b1[1 1 3]", nil},
		{"N54", inA, rejoined(0, 1), allA, nil},
		{"N55", inA, with(joint.Vstack, inA),
			"id@3[1 2 3 3 4 1 2 3 3 2 2 1 2 3 3 4 1 2 3 3 2 2] ts@2[1 2 3 4 5 1 2 3 4 5] b1[2 4] b2[3 5 8 10] b3[3 5 7 8 11 14 16 18 19 22]", nil},
		{"N56", `{"s":[1,2]}`, with(joint.Vstack, `{"s":[3]}`), "s@1[1 2 3] b1[2 3]", nil},
		{"N57", inA, with(concat, inA),
			"id@2[1 2 3 3 4 1 2 3 3 2 2 1 2 3 3 4 1 2 3 3 2 2] ts@1[1 2 3 4 5 1 2 3 4 5] b1[3 5 8 10] b2[3 5 7 8 11 14 16 18 19 22]", nil},
		{"N59 dtypes differ", `{"T":[1]}`, with(concat, `{"T":[300]}`), "", tensor.ErrDType},
		{"N60", `{"a":[[1,2],[3]],"b":[[1],[2,3]]}`, nil, "", ragged.ErrLengths},
		{"N61 an empty list", `{"S":[]}`, nil, "", ragged.ErrLengths},
		{"N61 a reserved name", `{"bounds":[1]}`, nil, "", joint.ErrName},
		{"N61 another reserved name", `{"mask":[1]}`, nil, "", joint.ErrName},
		{"N61 lists of several depths, deeper", `{"D":[[[[5,6],[7]],[[[8]],[[]]],[[[9,10]]]]]}`, nil, "", ragged.ErrLengths},
		{"N61 lists of several depths", `{"D":[[1],2]}`, nil, "", ragged.ErrLengths},
		{"N63 some of the fields", inB, func(j *joint.Joint) (*joint.Joint, error) { return j.Select("ts") }, "ts@1[1 2 3 4 5 6] b1[2 3 6]", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, err := jointOf(tt.in)
			if err == nil && tt.do != nil {
				j, err = tt.do(j)
			}
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
