package pickstack_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/tensor"
)

// A specRow is a case by hand. Tensors and pools are written as JSON.
type specRow struct {
	name  string
	xs    []string // [B P C]
	index []string // [A] to pick, [A *] to pool; "" for all rows
	min   *float64
	ties  pickstack.Ties
	out   string // [B A sum(C)]; "" is not looked at
	g     string // "" for no gradient
	dxs   []string
}

const (
	specX = "[[[1,2],[3,4]],[[5,6],[7,8]]]"
	specZ = "[[[-2,3],[0,1],[-1,2]],[[7,7],[7,7],[7,7]]]"
	specT = "[[[3],[3],[1],[3]]]"
	specM = "[[[-1],[-3],[-1]]]"
	specQ = "[[[-5],[-6]]]"
	poolZ = "[[0],[],[1,2],[]]"
	outZ  = "[[[-1,3],[-1,-1],[0,2],[-1,-1]],[[7,7],[-1,-1],[7,7],[-1,-1]]]"
	gradZ = "[[[1,2],[3,4],[5,6],[7,8]],[[10,20],[30,40],[50,60],[70,80]]]"
)

var lowest = math.Inf(-1)

// Picks, by their numbers in the specification.
var pickRows = []specRow{
	{"P01 P02 two inputs", []string{"[[[11,12],[13,14],[15,16]]]", "[[[21.3,22.3,23.3],[24.3,25.3,26.3]]]"},
		[]string{"[2,0,1]", "[1,1,0]"}, nil, 0,
		"[[[15,16,24.3,25.3,26.3],[11,12,24.3,25.3,26.3],[13,14,21.3,22.3,23.3]]]",
		"[[[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]]",
		[]string{"[[[6,7],[11,12],[1,2]]]", "[[[13,14,15],[11,13,15]]]"}},
	{"P03 gradients add up", []string{"[[[5]]]"}, []string{"[0,0]"}, nil, 0,
		"[[[5],[5]]]", "[[[2],[3]]]", []string{"[[[5]]]"}},
	{"P04 a batch", []string{specX}, []string{"[1,0,1]"}, nil, 0,
		"[[[3,4],[1,2],[3,4]],[[7,8],[5,6],[7,8]]]", "[[[1,1],[2,2],[4,4]],[[10,10],[20,20],[40,40]]]",
		[]string{"[[[2,2],[5,5]],[[20,20],[50,50]]]"}},
	{"P05 one tensor twice", []string{specX, specX}, []string{"[0,1]", "[1,1]"}, nil, 0,
		"[[[1,2,3,4],[3,4,3,4]],[[5,6,7,8],[7,8,7,8]]]", "[[[1,2,3,4],[5,6,7,8]],[[1,1,1,1],[1,1,1,1]]]",
		[]string{"[[[1,2],[5,6]],[[1,1],[1,1]]]", "[[[0,0],[10,12]],[[0,0],[2,2]]]"}},
	{"P07 rows without an index", []string{"[[[1],[2],[3],[4]]]"}, []string{"[3,3,1]"}, nil, 0,
		"[[[4],[4],[2]]]", "[[[0.5],[0.25],[2]]]", []string{"[[[0],[2],[0],[0.75]]]"}},
	{"P08 a skip connection by index", []string{"[[[1],[2]]]", "[[[9],[8],[7]]]"}, []string{"[1,0,1]", "[0,1,2]"}, nil, 0,
		"[[[2,9],[1,8],[2,7]]]", "[[[1,10],[2,20],[4,40]]]", []string{"[[[2],[5]]]", "[[[10],[20],[40]]]"}},
	{"P08 a skip connection", []string{"[[[1],[2]]]", "[[[9],[8],[7]]]"}, []string{"[1,0,1]", ""}, nil, 0,
		"[[[2,9],[1,8],[2,7]]]", "[[[1,10],[2,20],[4,40]]]", []string{"[[[2],[5]]]", "[[[10],[20],[40]]]"}},
}

// Pools, by their numbers in the specification.
var poolRows = []specRow{
	{"L01 L02 empty pools", []string{specZ}, []string{poolZ}, new(-1.0), pickstack.TieEven,
		outZ, gradZ, []string{"[[[0,2],[5,0],[0,6]],[[10,20],[25,30],[25,30]]]"}},
	{"L02 ties to the first", []string{specZ}, []string{poolZ}, new(-1.0), pickstack.TieFirst,
		outZ, gradZ, []string{"[[[0,2],[5,0],[0,6]],[[10,20],[50,60],[0,0]]]"}},
	{"L03 ties", []string{specT}, []string{"[[0,1,2,3]]"}, nil, pickstack.TieEven,
		"[[[3]]]", "[[[6]]]", []string{"[[[2],[2],[0],[2]]]"}},
	{"L03 ties to the first", []string{specT}, []string{"[[0,1,2,3]]"}, nil, pickstack.TieFirst,
		"[[[3]]]", "[[[6]]]", []string{"[[[6],[0],[0],[0]]]"}},
	{"L03 ties to all", []string{specT}, []string{"[[0,1,2,3]]"}, nil, pickstack.TieAll,
		"[[[3]]]", "[[[6]]]", []string{"[[[6],[6],[0],[6]]]"}},
	{"L04 an entry listed twice counts twice", []string{specT}, []string{"[[0,0,1]]"}, nil, pickstack.TieEven,
		"[[[3]]]", "[[[6]]]", []string{"[[[4],[2],[0],[0]]]"}},
	{"L05 entries that equal MinValue get all", []string{specM}, []string{"[[0,1,2]]"}, new(-1.0), pickstack.TieEven,
		"[[[-1]]]", "[[[6]]]", []string{"[[[3],[0],[3]]]"}},
	{"L05 the first of them", []string{specM}, []string{"[[0,1,2]]"}, new(-1.0), pickstack.TieFirst,
		"[[[-1]]]", "[[[6]]]", []string{"[[[6],[0],[0]]]"}},
	{"L06 entries below MinValue get none", []string{specQ}, []string{"[[0,1]]"}, new(-1.0), 0,
		"[[[-1]]]", "[[[6]]]", []string{"[[[0],[0]]]"}},
	{"L06 MinValue -Inf", []string{specQ}, []string{"[[0,1]]"}, &lowest, 0,
		"[[[-5]]]", "[[[6]]]", []string{"[[[6],[0]]]"}},
	{"L06 no MinValue", []string{specQ}, []string{"[[0,1]]"}, nil, 0,
		"[[[-5]]]", "[[[6]]]", []string{"[[[6],[0]]]"}},
	{"L07 pools that overlap", []string{"[[[1],[5],[3]]]"}, []string{"[[0,1],[1,2],[0,2]]"}, new(0.0), 0,
		"[[[5],[5],[3]]]", "[[[1],[10],[100]]]", []string{"[[[0],[11],[100]]]"}},
	{"L08 two inputs", []string{"[[[1,-1],[2,-2]]]", "[[[4],[0.5],[3]]]"}, []string{"[[0,1],[]]", "[[],[0,1,2]]"}, new(-1.0), 0,
		"[[[2,-1,-1],[-1,-1,4]]]", "[[[1,2,3],[4,5,6]]]", []string{"[[[0,2],[1,0]]]", "[[[6],[0],[0]]]"}},
	{"L09 pools of one entry pick", []string{"[[[11,12],[13,14],[15,16]]]", "[[[21.3,22.3,23.3],[24.3,25.3,26.3]]]"},
		[]string{"[[2],[0],[1]]", "[[1],[1],[0]]"}, &lowest, 0,
		"[[[15,16,24.3,25.3,26.3],[11,12,24.3,25.3,26.3],[13,14,21.3,22.3,23.3]]]",
		"[[[1,2,3,4,5],[6,7,8,9,10],[11,12,13,14,15]]]",
		[]string{"[[[6,7],[11,12],[1,2]]]", "[[[13,14,15],[11,13,15]]]"}},
	{"L10 all pools empty", []string{specX}, []string{"[[],[]]"}, new(-1.0), 0,
		"[[[-1,-1],[-1,-1]],[[-1,-1],[-1,-1]]]", "[[[1,2],[3,4]],[[5,6],[7,8]]]", []string{"[[[0,0],[0,0]],[[0,0],[0,0]]]"}},
	{"L12 a winner for each channel", []string{"[[[1,9,5],[8,2,5]]]"}, []string{"[[0,1]]"}, nil, 0,
		"[[[8,9,5]]]", "[[[1,1,1]]]", []string{"[[[0,1,0.5],[1,0,0.5]]]"}},
	{"L13 -0 ties with 0", []string{"[[[0],[-0]]]"}, []string{"[[0,1]]"}, new(-1.0), 0,
		"[[[0]]]", "[[[2]]]", []string{"[[[1],[1]]]"}},
	{"L13 the other way round", []string{"[[[-0],[0]]]"}, []string{"[[0,1]]"}, new(-1.0), pickstack.TieFirst,
		"[[[0]]]", "[[[2]]]", []string{"[[[2],[0]]]"}},
	{"L14 NaN", []string{"[[[1],[null],[2]]]"}, []string{"[[0,1,2]]"}, nil, 0,
		"[[[null]]]", "[[[1]]]", []string{"[[[0],[1],[0]]]"}},
	{"L14 NaN is above MinValue", []string{"[[[1],[null],[2]]]"}, []string{"[[0,1,2]]"}, new(3.0), 0,
		"[[[null]]]", "[[[1]]]", []string{"[[[0],[1],[0]]]"}},
	{"L14 two NaN share", []string{"[[[null],[1],[null]]]"}, []string{"[[0,1,2]]"}, nil, 0,
		"[[[null]]]", "[[[1]]]", []string{"[[[0.5],[0],[0.5]]]"}},
	{"L08 MinValue does not count for a skip connection", []string{specQ, specQ}, []string{"[[0],[1]]", ""}, new(-1.0), 0,
		"[[[-1,-5],[-1,-6]]]", "[[[1,2],[3,4]]]", []string{"[[[0],[0]]]", "[[[2],[4]]]"}},
}

// cubeOf reads nested lists of numbers, null being NaN, and returns their shape and the numbers.
func cubeOf(t *testing.T, text string) ([]int, []float64) {
	t.Helper()
	var lists [][][]*float64
	require.NoError(t, json.Unmarshal([]byte(text), &lists), text)
	shape, numbers := []int{len(lists), len(lists[0]), len(lists[0][0])}, []float64{}
	for _, v := range slices.Concat(slices.Concat(lists...)...) {
		if v == nil {
			v = new(math.NaN())
		}
		numbers = append(numbers, *v)
	}
	return shape, numbers
}

func cube(t *testing.T, d tensor.DType, text string) *tensor.Tensor {
	t.Helper()
	shape, numbers := cubeOf(t, text)
	return dense(d, shape, numbers)
}

// specIndex reads the index or the pools of a row.
func specIndex(t *testing.T, text string, pick bool) [][]int {
	t.Helper()
	if text == "" {
		return nil
	}
	if !pick {
		pools := [][]int{}
		require.NoError(t, json.Unmarshal([]byte(text), &pools))
		return pools
	}
	var index []int
	require.NoError(t, json.Unmarshal([]byte(text), &index))
	pools := [][]int{}
	for _, row := range index {
		pools = append(pools, []int{row})
	}
	return pools
}

// problem returns what a row is about, and the inputs.
func (row specRow) problem(t *testing.T, d tensor.DType, pick bool) (problem, []*tensor.Tensor) {
	t.Helper()
	p := problem{dtype: d, pick: pick, opt: pickstack.PoolOptions{MinValue: row.min, Ties: row.ties}}
	var xs []*tensor.Tensor
	for n, text := range row.xs {
		shape, _ := cubeOf(t, text)
		p.widths = append(p.widths, shape[1])
		p.index = append(p.index, specIndex(t, row.index[n], pick))
		xs = append(xs, cube(t, d, text))
	}
	shape, _ := cubeOf(t, row.out)
	p.rows = shape[1]
	return p, xs
}

// TestSpec runs the cases of the specification, for each dtype of numbers and indices.
func TestSpec(t *testing.T) {
	for _, row := range slices.Concat(pickRows, poolRows) {
		t.Run(row.name, func(t *testing.T) {
			for _, d := range floats {
				for _, index := range []tensor.DType{tensor.Int32, tensor.Int64} {
					row.check(t, d, index)
				}
			}
		})
	}
}

func (row specRow) check(t *testing.T, d, index tensor.DType) {
	t.Helper()
	p, xs := row.problem(t, d, row.name[0] == 'P')
	plan := p.plan(t, index)
	shape, want := cubeOf(t, row.out)
	out, err := plan.Forward(xs...)
	require.NoError(t, err)
	equal(t, want, shape, out, false, true)
	dxs, err := plan.Gradient(cube(t, d, row.g), xs...)
	require.NoError(t, err)
	require.Len(t, dxs, len(xs))
	for n, text := range row.dxs {
		shape, want := cubeOf(t, text)
		equal(t, want, shape, dxs[n], false, false)
	}
}
