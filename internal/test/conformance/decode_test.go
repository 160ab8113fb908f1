package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A testCase is one line of a case file.
type testCase struct {
	ID     string                     `json:"id"`
	Op     string                     `json:"op"`
	Inputs []json.RawMessage          `json:"inputs"`
	Args   map[string]json.RawMessage `json:"args"`
	Want   json.RawMessage            `json:"want"`
	Error  *string                    `json:"error"`

	// Of cases of package pickstack.
	Indices  []json.RawMessage `json:"indices"`
	MinValue *float64          `json:"min_value"`
	Grad     json.RawMessage   `json:"grad"`
}

// arg decodes an argument; one that is missing or null leaves the zero value.
func arg[T any](c testCase, name string) T {
	var v T
	if raw, ok := c.Args[name]; ok {
		must(json.Unmarshal(raw, &v))
	}
	return v
}

// dicts decodes the inputs anew, so that each caller has its own.
func (c testCase) dicts() []*tdict.TensorDict {
	out := make([]*tdict.TensorDict, len(c.Inputs))
	for i, raw := range c.Inputs {
		out[i] = decodeDict(raw)
	}
	return out
}

func decodeDict(raw json.RawMessage) *tdict.TensorDict {
	var d struct {
		Batch   []int                      `json:"batch"`
		Entries map[string]json.RawMessage `json:"entries"`
		Names   []*string                  `json:"names"`
	}
	must(json.Unmarshal(raw, &d))
	td := tdict.New(d.Batch...)
	for name, entry := range d.Entries {
		must(td.Set(nestedkey.Of(name), decodeValue(entry)))
	}
	if d.Names != nil {
		must(td.SetNames(decodeNames(d.Names)...))
	}
	return td
}

// decodeNames decodes the names of dims, null for none.
func decodeNames(raw []*string) []string {
	names := make([]string, len(raw))
	for i, name := range raw {
		if name != nil {
			names[i] = *name
		}
	}
	return names
}

// decodeValue decodes a dictionary or a tensor.
func decodeValue(raw json.RawMessage) tdict.Value {
	if isDict(raw) {
		return decodeDict(raw)
	}
	return decodeTensor(raw)
}

func isDict(raw json.RawMessage) bool { return hasField(raw, "batch") }

func isTensor(raw json.RawMessage) bool { return hasField(raw, "dtype") }

func hasField(raw json.RawMessage, name string) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && fields[name] != nil
}

func decodeTensor(raw json.RawMessage) *tensor.Tensor {
	var t struct {
		DType string   `json:"dtype"`
		Shape []int    `json:"shape"`
		Data  []number `json:"data"`
	}
	must(json.Unmarshal(raw, &t))
	dtype := tensor.Must(tensor.ParseDType(t.DType))
	var whole *tensor.Tensor
	if dtype.IsFloat() {
		floats := make([]float64, len(t.Data))
		for i, n := range t.Data {
			floats[i] = n.float
		}
		whole = tensor.Must(tensor.From(floats, slices.Concat(t.Shape)...))
	} else {
		ints := make([]int64, len(t.Data))
		for i, n := range t.Data {
			ints[i] = n.int
		}
		whole = tensor.Must(tensor.From(ints, t.Shape...))
	}
	return tensor.Must(whole.Cast(dtype))
}

// A number is an element: a JSON number or bool, or "nan", "inf" or "-inf".
type number struct {
	int   int64
	float float64
}

func (n *number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*n = number{1, 1}
		return nil
	case "false":
		*n = number{}
		return nil
	case `"nan"`:
		n.float = math.NaN()
		return nil
	case `"inf"`:
		n.float = math.Inf(1)
		return nil
	case `"-inf"`:
		n.float = math.Inf(-1)
		return nil
	}
	if err := json.Unmarshal(b, &n.float); err != nil {
		return err
	}
	if json.Unmarshal(b, &n.int) != nil {
		n.int = int64(n.float)
	}
	return nil
}

// decodeIndex decodes an index expression.
func decodeIndex(raw json.RawMessage) []ix.Index {
	var parts []struct {
		Int               *int
		Slice             []*int
		Ellipsis, NewAxis bool
		Mask, Take        json.RawMessage
	}
	must(json.Unmarshal(raw, &parts))
	expr := make([]ix.Index, len(parts))
	for i, p := range parts {
		switch {
		case p.Int != nil:
			expr[i] = ix.At(*p.Int)
		case p.Slice != nil:
			expr[i] = ix.Range(or(p.Slice[0], 0), or(p.Slice[1], ix.End)).Step(or(p.Slice[2], 1))
		case p.Ellipsis:
			expr[i] = ix.Rest
		case p.NewAxis:
			expr[i] = ix.New
		case p.Mask != nil:
			expr[i] = tensor.Must(decodeTensor(p.Mask).AsIndex())
		case p.Take != nil:
			expr[i] = decodeTake(p.Take)
		default:
			panic(fmt.Sprintf("part %d of an index: %s", i, raw))
		}
	}
	return expr
}

// decodeTake decodes a list of positions: a tensor of them, or just that.
func decodeTake(raw json.RawMessage) ix.Index {
	if isTensor(raw) {
		return tensor.Must(decodeTensor(raw).AsIndex())
	}
	var list []int
	must(json.Unmarshal(raw, &list))
	return ix.Take(list...)
}

func or(n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	return *n
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
