package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/pickstack"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A fused is an operation that gathers or pools rows of its inputs and concatenates what comes of
// them: its plan for so many rows of each input.
type fused func(c testCase, widths []int) (*pickstack.Plan, error)

// fusedOps has every such operation that is implemented.
var fusedOps = map[string]fused{
	"pick_stack": func(c testCase, widths []int) (*pickstack.Plan, error) {
		var indices []*tensor.Tensor
		for _, raw := range c.Indices {
			indices = append(indices, decodeInts(raw))
		}
		return pickstack.NewPick(indices, widths, pickstack.PickOptions{})
	},
	"pick_pool_stack": func(c testCase, widths []int) (*pickstack.Plan, error) {
		var pools []*ragged.Tensor
		for _, raw := range c.Indices {
			var p struct {
				Values json.RawMessage `json:"values"`
				Splits json.RawMessage `json:"row_splits"`
			}
			must(json.Unmarshal(raw, &p))
			pool, err := pickstack.FromSplits(decodeInts(p.Values), decodeInts(p.Splits))
			if err != nil {
				return nil, err
			}
			pools = append(pools, pool)
		}
		return pickstack.NewPool(pools, widths, pickstack.PoolOptions{MinValue: c.MinValue})
	},
}

func decodeInts(raw json.RawMessage) *tensor.Tensor {
	var list []int64
	must(json.Unmarshal(raw, &list))
	return tensor.Vector(list...)
}

// checkFused runs a case on its inputs, there and back, and returns how it went wrong.
func checkFused(makePlan fused, c testCase) error {
	var xs []*tensor.Tensor
	var widths []int
	for _, raw := range c.Inputs {
		x := decodeTensor(raw)
		xs, widths = append(xs, x), append(widths, x.Shape()[1])
	}
	got, err := runFused(makePlan, c, xs, widths)
	switch {
	case c.Error != nil && err == nil:
		return fmt.Errorf("got %v, want an error like %q", got, *c.Error)
	case c.Error != nil:
		return checkFusedError(err, *c.Error)
	case err != nil:
		return err
	}
	return compareFused(got, c)
}

// checkFusedError returns how an error differs from that of a case, which says what it is about.
func checkFusedError(err error, want string) error {
	kind := map[string]error{
		"index out of range":                   shapeops.ErrIndex,
		"indices differ in length":             shapeops.ErrShape,
		"pools differ in number of rows":       shapeops.ErrShape,
		"row_splits do not end at len(values)": ragged.ErrOffsets,
	}[want]
	if kind == nil || errors.Is(err, kind) {
		return nil
	}
	return fmt.Errorf("got the error %v, want %v, like %q", err, kind, want)
}

// runFused returns the output and the gradients of the inputs.
func runFused(makePlan fused, c testCase, xs []*tensor.Tensor, widths []int) ([]*tensor.Tensor, error) {
	plan, err := makePlan(c, widths)
	if err != nil {
		return nil, err
	}
	out, err := plan.Forward(xs...)
	if err != nil {
		return nil, err
	}
	dxs, err := plan.Gradient(decodeTensor(c.Grad), xs...)
	return slices.Concat([]*tensor.Tensor{out}, dxs), err
}

func compareFused(got []*tensor.Tensor, c testCase) error {
	var want struct {
		Output     json.RawMessage   `json:"output"`
		InputGrads []json.RawMessage `json:"input_grads"`
	}
	must(json.Unmarshal(c.Want, &want))
	all := append([]json.RawMessage{want.Output}, want.InputGrads...)
	if len(got) != len(all) {
		return fmt.Errorf("got %d results, want %d", len(got), len(all))
	}
	for i, raw := range all {
		if err := near(got[i], decodeTensor(raw), i > 0); err != nil {
			return fmt.Errorf("result %d: %w", i, err)
		}
	}
	return nil
}

// near compares results, of which those that are sums may be off by what is rounded on the way.
func near(got, want *tensor.Tensor, sums bool) error {
	if got.DType() == want.DType() && got.Shape().Equal(want.Shape()) && (same(got, want) || sums && roundedAlike(got, want)) {
		return nil
	}
	return fmt.Errorf("got %v, want %v", got, want)
}

func roundedAlike(got, want *tensor.Tensor) bool {
	eps := 0x1p-50
	if got.DType() == tensor.Float32 {
		eps = 0x1p-21
	}
	g, w := numbersIn(got), numbersIn(want)
	for i := range w {
		if !(math.Abs(g[i]-w[i]) <= eps*(1+math.Abs(w[i]))) {
			return false
		}
	}
	return true
}

func numbersIn(x *tensor.Tensor) []float64 {
	wide := tensor.Must(x.Cast(tensor.Float64))
	return slices.Collect(tensor.Must(tensor.Elements[float64](wide)))
}

// TestFusedResultsAreCompared: a gradient that is wrong, or missing, shows, and so does an output
// that is off by a little.
func TestFusedResultsAreCompared(t *testing.T) {
	c := testCase{Want: json.RawMessage(`{"output":{"dtype":"float64","shape":[1],"data":[1]},"input_grads":[{"dtype":"float64","shape":[1],"data":[2]}]}`)}
	one, two, close := tensor.Vector(1.0), tensor.Vector(2.0), math.Nextafter(1, 2)
	errs := []error{
		compareFused([]*tensor.Tensor{one, two}, c),
		compareFused([]*tensor.Tensor{one, tensor.Vector(2 * close)}, c),
		compareFused([]*tensor.Tensor{tensor.Vector(close), two}, c),
		compareFused([]*tensor.Tensor{one, one}, c),
		compareFused([]*tensor.Tensor{one, tensor.Vector[float32](2)}, c),
		compareFused([]*tensor.Tensor{one}, c),
	}
	if errs[0] != nil || errs[1] != nil || slices.Contains(errs[2:], nil) {
		t.Errorf("got %v, want two nil and four errors", errors.Join(errs...))
	}
}
