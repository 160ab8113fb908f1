package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A jointOp runs a case on collections of ragged tensors.
type jointOp func(c testCase, in []*joint.Joint) (*joint.Joint, error)

// jointOps has every operation on collections that is implemented.
var jointOps = map[string]jointOp{
	"to_dense": func(_ testCase, in []*joint.Joint) (*joint.Joint, error) { return in[0], nil },
	"index":    indexJoint,
	"concat":   func(_ testCase, in []*joint.Joint) (*joint.Joint, error) { return joint.Concat(in, 0) },
	"vstack": func(c testCase, in []*joint.Joint) (*joint.Joint, error) {
		var rows []*joint.Joint
		for _, i := range arg[[]int](c, "items") {
			row, err := in[0].Row(i)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return joint.Vstack(rows)
	},
	"flatten": func(c testCase, in []*joint.Joint) (*joint.Joint, error) {
		return in[0].FlattenLevel(arg[int](c, "dim"), joint.First)
	},
}

func indexJoint(c testCase, in []*joint.Joint) (*joint.Joint, error) {
	return in[0].Index(decodeIndex(c.Args["index"])...)
}

func isJoint(raw json.RawMessage) bool { return hasField(raw, "lists") }

// joints decodes the inputs.
func (c testCase) joints() ([]*joint.Joint, error) {
	out := make([]*joint.Joint, len(c.Inputs))
	for i, raw := range c.Inputs {
		var in struct {
			Schema map[string]string
			Lists  map[string]json.RawMessage
		}
		must(json.Unmarshal(raw, &in))
		var schema tdict.Schema
		lists := map[string]any{}
		for name, list := range in.Lists {
			schema = append(schema, tdict.Spec{Key: nestedkey.Of(name), Kind: tdict.KindRagged, DType: tensor.Must(tensor.ParseDType(in.Schema[name])), Depth: tdict.Any})
			lists[name] = decodeLists(list)
		}
		var err error
		if out[i], err = nrt.FromLists(lists, schema); err != nil {
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
	d, err := j.Densify(ragged.DensifyOptions{Left: arg[string](c, "padding_side") == "left", Masks: "masks"})
	if err != nil {
		return nil, err
	}
	return denseByName(d), nil
}

// denseByName returns fields and masks under the names that the original gives them: the mask of
// the last level of each field, counted from the rows of the collection.
func denseByName(d *tdict.TensorDict) map[string]*tensor.Tensor {
	out := map[string]*tensor.Tensor{}
	for key, v := range d.All() {
		name := key.Name()
		if name == "masks" {
			continue
		}
		if u, ok := v.(*tdict.Unbatched); ok {
			out[name] = u.Tensor()
			continue
		}
		out[name] = v.(*tensor.Tensor)
		levels := 1
		for d.Has(nestedkey.Join("masks", key, nestedkey.Of(fmt.Sprint(levels+1)))) {
			levels++
		}
		if at := nestedkey.Join("masks", key); levels > 1 {
			out[fmt.Sprintf("dim%d/mask", levels)] = tensor.Must(d.Tensor(nestedkey.Join(at, nestedkey.Of(fmt.Sprint(levels)))))
		} else if d.Has(at) {
			out["dim1/mask"] = tensor.Must(d.Tensor(at))
		}
	}
	return out
}
