package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type dict = *tdict.TensorDict

// An op runs a case on its inputs and returns a dictionary, a list of them, a tensor, or what JSON
// encodes.
type op func(c testCase, in []dict) (any, error)

// find returns what runs a case and says how it went wrong, or nil if its operation is not
// implemented. Files about other kinds of value name some operations alike, so it goes by the
// inputs, all of which must be of one kind.
func find(c testCase) func(c testCase) error {
	all := func(is func(json.RawMessage) bool) bool {
		other := func(raw json.RawMessage) bool { return !is(raw) }
		return len(c.Inputs) > 0 && !slices.ContainsFunc(c.Inputs, other)
	}
	if run := ops[c.Op]; run != nil && all(isDict) {
		return func(c testCase) error { return caught(func() error { return check(run, c) }) }
	}
	if run := jointOps[c.Op]; run != nil && all(isJoint) {
		return func(c testCase) error { return caught(func() error { return checkJoint(run, c) }) }
	}
	if run := listOps[c.Op]; run != nil && len(c.Inputs) == 0 {
		return func(c testCase) error { return caught(func() error { return checkLists(run, c) }) }
	}
	if run := fusedOps[c.Op]; run != nil && all(isTensor) {
		return func(c testCase) error { return caught(func() error { return checkFused(run, c) }) }
	}
	return nil
}

// ops has every operation on dictionaries that is implemented.
var ops = map[string]op{
	"index": func(c testCase, in []dict) (any, error) { return in[0].Index(decodeIndex(c.Args["index"])...) },
	"set_index": func(c testCase, in []dict) (any, error) {
		return in[0], in[0].SetIndexWith(in[1], tdict.SetIndexOptions{Create: true}, decodeIndex(c.Args["index"])...)
	},

	"reshape": func(c testCase, in []dict) (any, error) { return in[0].Reshape(arg[[]int](c, "shape")...) },
	"permute": func(c testCase, in []dict) (any, error) { return in[0].Permute(arg[[]int](c, "dims")...) },
	"transpose": func(c testCase, in []dict) (any, error) {
		return in[0].Transpose(arg[int](c, "dim0"), arg[int](c, "dim1"))
	},
	"squeeze":   squeeze,
	"unsqueeze": func(c testCase, in []dict) (any, error) { return in[0].Unsqueeze(arg[int](c, "dim")) },
	"expand":    func(c testCase, in []dict) (any, error) { return in[0].Expand(arg[[]int](c, "shape")...) },
	"flatten": func(c testCase, in []dict) (any, error) {
		return in[0].Flatten(arg[int](c, "start"), arg[int](c, "end"))
	},
	"unflatten": func(c testCase, in []dict) (any, error) {
		return in[0].Unflatten(arg[int](c, "dim"), arg[[]int](c, "sizes")...)
	},

	"split": split,
	"chunk": func(c testCase, in []dict) (any, error) {
		return shapeops.Chunk(in[0], arg[int](c, "dim"), arg[int](c, "chunks"))
	},
	"unbind": func(c testCase, in []dict) (any, error) { return shapeops.Unbind(in[0], arg[int](c, "dim")) },
	"stack":  func(c testCase, in []dict) (any, error) { return shapeops.Stack(in, arg[int](c, "dim")) },
	"cat":    func(c testCase, in []dict) (any, error) { return shapeops.Cat(in, arg[int](c, "dim")) },

	"pad": func(c testCase, in []dict) (any, error) {
		return in[0].Pad(tdict.PadOptions{Fill: arg[float64](c, "value")}, arg[[]int](c, "pad")...)
	},
	"pad_sequence": padSequence,
	"repeat":       func(c testCase, in []dict) (any, error) { return shapeops.Repeat(in[0], arg[[]int](c, "repeats")...) },
	"repeat_interleave": func(c testCase, in []dict) (any, error) {
		return shapeops.RepeatInterleave(in[0], arg[int](c, "dim"), arg[int](c, "repeats"))
	},
	"gather": func(c testCase, in []dict) (any, error) {
		return in[0].Gather(arg[int](c, "dim"), decodeTensor(c.Args["index"]))
	},
	"masked_select": func(c testCase, in []dict) (any, error) { return in[0].MaskedSelect(decodeTensor(c.Args["mask"])) },
	"masked_fill": func(c testCase, in []dict) (any, error) {
		return arith.MaskedFill(in[0], decodeTensor(c.Args["mask"]), arg[float64](c, "value"))
	},
	"sum": func(c testCase, in []dict) (any, error) {
		over := arith.Dims(arg[int](c, "dim"))
		if arg[bool](c, "keepdim") {
			over = over.Keep()
		}
		return arith.Sum(in[0], over)
	},
	"where": func(c testCase, in []dict) (any, error) {
		return arith.Where(decodeTensor(c.Args["mask"]), in[0], in[1])
	},
	"get": func(c testCase, in []dict) (any, error) { return in[0].Get(key(c, "key")) },
	"set": func(c testCase, in []dict) (any, error) {
		return in[0], in[0].Set(key(c, "key"), decodeValue(c.Args["value"]))
	},
	"delete":     func(c testCase, in []dict) (any, error) { return in[0], in[0].Delete(key(c, "key")) },
	"rename_key": rename,
	"update":     func(c testCase, in []dict) (any, error) { return in[0], in[0].Update(in[1]) },

	"flatten_keys":   func(c testCase, in []dict) (any, error) { return in[0].FlattenKeys(arg[string](c, "separator")) },
	"unflatten_keys": func(c testCase, in []dict) (any, error) { return in[0].UnflattenKeys(arg[string](c, "separator")) },
	"select":         selectKeys,
	"exclude":        func(c testCase, in []dict) (any, error) { return in[0].Exclude(keys(c, "keys")...), nil },
	"keys":           listKeys,
	"apply_add":      applyAdd,
}

// An operation of names is another one, on named dims.
func init() {
	ops["names"] = func(c testCase, in []dict) (any, error) { return ops[arg[string](c, "then")](c, in) }
}

func key(c testCase, name string) nestedkey.Key { return spell(arg[[]string](c, name)) }

func keys(c testCase, name string) []nestedkey.Key {
	var out []nestedkey.Key
	for _, parts := range arg[[][]string](c, name) {
		out = append(out, spell(parts))
	}
	return out
}

func spell(parts []string) nestedkey.Key { return nestedkey.Of(parts[0], parts[1:]...) }

func padSequence(c testCase, in []dict) (any, error) {
	opt := shapeops.PadSequenceOptions{Fill: arg[float64](c, "value"), Dim: arg[int](c, "pad_dim")}
	if !arg[bool](c, "return_mask") {
		return shapeops.PadSequence(in, opt)
	}
	out, masks, err := shapeops.PadSequenceMasked(in, opt)
	if err != nil {
		return nil, err
	}
	return out, out.Set("masks", masks)
}

func squeeze(c testCase, in []dict) (any, error) {
	if dim := arg[*int](c, "dim"); dim != nil {
		return in[0].Squeeze(*dim)
	}
	return in[0].Squeeze()
}

func split(c testCase, in []dict) (any, error) {
	var size int
	if json.Unmarshal(c.Args["size"], &size) == nil {
		return shapeops.SplitBy(in[0], arg[int](c, "dim"), size)
	}
	return shapeops.Split(in[0], arg[int](c, "dim"), arg[[]int](c, "size")...)
}

func rename(c testCase, in []dict) (any, error) {
	if arg[bool](c, "safe") {
		return in[0], in[0].Rename(key(c, "key"), key(c, "to"))
	}
	v, err := in[0].Pop(key(c, "key"))
	if err == nil {
		err = in[0].Set(key(c, "to"), v)
	}
	return in[0], err
}

func selectKeys(c testCase, in []dict) (any, error) {
	if arg[bool](c, "strict") {
		return in[0].Select(keys(c, "keys")...)
	}
	return in[0].SelectPresent(keys(c, "keys")...), nil
}

// listKeys returns the keys as sorted lists of parts.
func listKeys(c testCase, in []dict) (any, error) {
	keys := in[0].Keys()
	switch nested, leaves := arg[bool](c, "include_nested"), arg[bool](c, "leaves_only"); {
	case nested && leaves:
		keys = slices.Values(testkit.Keys(in[0].Leaves()))
	case nested:
		keys = in[0].NestedKeys()
	case leaves:
		keys = ownLeafKeys(in[0])
	}
	out := [][]string{}
	for _, k := range slices.SortedFunc(keys, nestedkey.Compare) {
		out = append(out, slices.Collect(k.Parts()))
	}
	return out, nil
}

// ownLeafKeys yields the keys of entries that are no dictionaries.
func ownLeafKeys(td dict) iter.Seq[nestedkey.Key] {
	return func(yield func(nestedkey.Key) bool) {
		for key, v := range td.All() {
			if _, isDict := v.(dict); !isDict && !yield(key) {
				return
			}
		}
	}
}

func applyAdd(_ testCase, in []dict) (any, error) {
	add := func(_ nestedkey.Key, xs []*tensor.Tensor) (*tensor.Tensor, error) {
		switch xs[0].DType() {
		case tensor.Float32:
			return sum[float32](xs)
		case tensor.Float64:
			return sum[float64](xs)
		case tensor.Int32:
			return sum[int32](xs)
		case tensor.Int64:
			return sum[int64](xs)
		}
		return nil, fmt.Errorf("apply_add of %v", xs[0].DType())
	}
	return tdict.Apply(context.Background(), in, add, tdict.ApplyOptions{})
}

func sum[T tensor.Number](xs []*tensor.Tensor) (*tensor.Tensor, error) {
	out, err := xs[0].Clone()
	if err != nil {
		return nil, err
	}
	a, err := tensor.Of[T](out)
	if err != nil {
		return nil, err
	}
	straight, err := xs[1].Contiguous()
	if err != nil {
		return nil, err
	}
	b, err := tensor.Of[T](straight)
	for i := range b {
		a[i] += b[i]
	}
	return out, err
}
