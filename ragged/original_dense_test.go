package ragged_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// What the original densifies: field by field its shape, its elements and its last mask.
func TestOriginalDense(t *testing.T) {
	right, left := ragged.DensifyOptions{Masks: "masks"}, ragged.DensifyOptions{Masks: "masks", Left: true}
	const (
		mask12 = "[[1 1 0] [1 0 0] [1 1 1]]"
		mask34 = "[[[0 0 0] [1 1 0] [0 0 0]] [[1 1 1] [0 0 0] [0 0 0]] [[0 0 0] [0 0 0] [1 0 0]]]"
		left34 = "[[[0 0 0] [0 0 0] [0 1 1]] [[0 0 0] [0 0 0] [1 1 1]] [[0 0 0] [0 0 0] [0 0 1]]]"
	)
	tests := []struct {
		name, in string
		do       change
		opt      ragged.DensifyOptions
		want     string
	}{
		{"N03", inSeed, nil, right, "tens_1[3] [0 1 2]\n" +
			"tens_2[3 3] [[1 2 0] [3 0 0] [4 5 6]] mask " + mask12 + "\n" +
			"tens_3[3 3 3] [[[0 0 0] [3 0 0] [0 0 0]] [[3 4 5] [0 0 0] [0 0 0]] [[0 0 0] [0 0 0] [2 0 0]]] mask " + mask34 + "\n" +
			"tens_4[3 3 3] [[[0 0 0] [1 2 0] [0 0 0]] [[1 8 0] [0 0 0] [0 0 0]] [[0 0 0] [0 0 0] [1 0 0]]] mask " + mask34},
		{"N04", inSeed, nil, left, "tens_1[3] [0 1 2]\n" +
			"tens_2[3 3] [[0 1 2] [0 0 3] [4 5 6]] mask [[0 1 1] [0 0 1] [1 1 1]]\n" +
			"tens_3[3 3 3] [[[0 0 0] [0 0 0] [0 3 0]] [[0 0 0] [0 0 0] [3 4 5]] [[0 0 0] [0 0 0] [0 0 2]]] mask " + left34 + "\n" +
			"tens_4[3 3 3] [[[0 0 0] [0 0 0] [0 1 2]] [[0 0 0] [0 0 0] [1 8 0]] [[0 0 0] [0 0 0] [0 0 1]]] mask " + left34},
		{"N05", inA, nil, right, "id[2 3 3] [[[1 2 3] [3 4 0] [1 2 0]] [[3 0 0] [3 2 2] [0 0 0]]] mask [[[1 1 1] [1 1 0] [1 1 0]] [[1 0 0] [1 1 1] [0 0 0]]]\n" +
			"ts[2 3] [[1 2 3] [4 5 0]] mask [[1 1 1] [1 1 0]]"},
		{"N06", inA, nil, left, "id[2 3 3] [[[1 2 3] [0 3 4] [0 1 2]] [[0 0 0] [0 0 3] [3 2 2]]] mask [[[1 1 1] [0 1 1] [0 1 1]] [[0 0 0] [0 0 1] [1 1 1]]]\n" +
			"ts[2 3] [[1 2 3] [0 4 5]] mask [[1 1 1] [0 1 1]]"},
		{"N07", `{"s":[1,2,3]}`, nil, right, "s[3] [1 2 3]"},
		{"N08", inID, nil, right, "id[2 3 3] [[[1 2 3] [3 4 0] [1 2 0]] [[3 0 0] [3 2 2] [0 0 0]]] mask [[[1 1 1] [1 1 0] [1 1 0]] [[1 0 0] [1 1 1] [0 0 0]]]"},
		{"N09", `{"v":[[1.5],["NaN",2.0]]}`, nil, right, "v[2 2] [[1.5 0] [NaN 2]] mask [[1 0] [1 1]]"},
		{"N10", `{"m":[[true],[false,true]]}`, nil, right, "m[2 2] [[1 0] [0 1]] mask [[1 0] [1 1]]"},
		{"N11", `{"v":[[],[1,2]]}`, nil, right, "v[2 2] [[0 0] [1 2]] mask [[0 0] [1 1]]"},
		{"N12", inC, nil, right, "c[3 2 2] [[[4 0] [0 0]] [[0 0] [0 0]] [[5 6] [0 0]]] mask [[[1 0] [0 0]] [[0 0] [0 0]] [[1 1] [0 0]]]\n" +
			"ts[3 2] [[1 0] [0 0] [2 3]] mask [[1 0] [0 0] [1 1]]"},
		{"N15", `{"D":[[[[5,6],[7]]],[[[8]],[[1]]],[[[9,10]]]]}`, nil, ragged.DensifyOptions{},
			"D[3 2 2 2] [[[[5 6] [7 0]] [[0 0] [0 0]]] [[[8 0] [0 0]] [[1 0] [0 0]]] [[[9 10] [0 0]] [[0 0] [0 0]]]]"},
		{"N39", inB, ranging(1, 3), ragged.DensifyOptions{}, "s[2] [8 9]\n" + "ts[2 3] [[3 0 0] [4 5 6]]\n" +
			"v[2 3 3] [[[3 4 5] [0 0 0] [0 0 0]] [[0 0 0] [0 0 0] [2 0 0]]]"},
		{"N44", inC, going(ix.At(1)), right, "c[0 0] [] mask []\nts[0] []"},
		{"NB8 of no row", inA, ranging(2, ix.End), right, "id[0 0 0] [] mask []\nts[0 0] [] mask []"},
		{"NB8 of a row without rows", inC, ranging(1, 2), right, "c[1 0 0] [[]] mask [[]]\nts[1 0] [[]] mask [[]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j, err := jointOf(tt.in)
			require.NoError(t, err)
			if tt.do != nil {
				j, err = tt.do(j)
				require.NoError(t, err)
			}
			d, err := j.Densify(tt.opt)
			require.NoError(t, err)
			require.Equal(t, tt.want, padded(t, d))
			for _, name := range j.Names() {
				require.Equal(t, tensor.Must(j.Tensor(name)).DType(), tensor.Must(d.Tensor(nestedkey.Of(name))).DType(), "nothing is promoted")
			}
		})
	}
}
