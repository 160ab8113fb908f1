package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

type joint = *ragged.Joint

// A jointOp runs a case on collections of ragged tensors.
type jointOp func(c testCase, in []joint) (joint, error)

// jointOps has every operation on collections that is implemented.
var jointOps = map[string]jointOp{
	"to_dense": func(_ testCase, in []joint) (joint, error) { return in[0], nil },
	"index":    indexJoint,
	"concat":   func(_ testCase, in []joint) (joint, error) { return ragged.ConcatJoints(in, ragged.JoinOptions{}) },
	"vstack": func(c testCase, in []joint) (joint, error) {
		var rows []joint
		for _, i := range arg[[]int](c, "items") {
			row, err := in[0].Row(i)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return ragged.VstackJoints(rows, ragged.JoinOptions{})
	},
	"flatten": func(c testCase, in []joint) (joint, error) {
		return in[0].FlattenLevel(arg[int](c, "dim"), ragged.First)
	},
}

func indexJoint(c testCase, in []joint) (joint, error) {
	return in[0].Index(decodeIndex(c.Args["index"])...)
}

func isJoint(raw json.RawMessage) bool { return hasField(raw, "lists") }

// joints decodes the inputs.
func (c testCase) joints() ([]joint, error) {
	out := make([]joint, len(c.Inputs))
	for i, raw := range c.Inputs {
		var in struct {
			Schema map[string]string
			Lists  map[string]json.RawMessage
		}
		must(json.Unmarshal(raw, &in))
		var schema ragged.Schema
		lists := map[string]any{}
		for name, list := range in.Lists {
			schema = append(schema, ragged.Spec{Name: name, DType: tensor.Must(tensor.ParseDType(in.Schema[name])), Depth: -1})
			lists[name] = decodeLists(list)
		}
		var err error
		if out[i], err = schema.Joint(lists); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decodeLists decodes nested lists of integers, floats and bools.
func decodeLists(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	must(d.Decode(&v))
	return plainNumbers(v)
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		return tensor.Must(v.Float64())
	}
	return v
}

// checkJoint runs a case on collections and returns how it went wrong. What comes of them is
// compared dense, with masks.
func checkJoint(run jointOp, c testCase) error {
	got, err := runJoint(run, c)
	switch {
	case c.Error != nil && err == nil:
		return fmt.Errorf("got %v, want an error like %q", got, *c.Error)
	case c.Error != nil:
		return nil
	case err != nil:
		return err
	}
	var want map[string]json.RawMessage
	must(json.Unmarshal(c.Want, &want))
	if len(got) != len(want) {
		return fmt.Errorf("got %v, want %s", got, c.Want)
	}
	for name, raw := range want {
		if x := got[name]; x == nil || !same(x, decodeTensor(raw)) {
			return fmt.Errorf("%s: got %v, want %s", name, x, raw)
		}
	}
	return nil
}

func runJoint(run jointOp, c testCase) (map[string]*tensor.Tensor, error) {
	in, err := c.joints()
	if err != nil {
		return nil, err
	}
	j, err := run(c, in)
	if err != nil {
		return nil, err
	}
	d, err := j.Densify(ragged.DensifyOptions{Left: arg[string](c, "padding_side") == "left", Masks: true})
	if err != nil {
		return nil, err
	}
	return denseByName(j, d), nil
}

// denseByName returns fields and masks under the names that the original gives them: the mask of
// the last level of each field, counted from the rows of the collection.
func denseByName(j joint, d *ragged.Dense) map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for name, x := range d.All() {
		out[name] = x
		if masks := d.Masks(name); len(masks) > 0 {
			out[fmt.Sprintf("dim%d/mask", len(masks))] = slices.Clone(masks)[len(masks)-1]
		}
	}
	return out
}
