package tdict

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/jsonlists"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// UnmarshalJSON replaces the batch shape, the names of dims and the entries of td by the contents
// of JSON from [TensorDict.MarshalJSON]. Fields can be in any order, and infinities of tensors can
// also be "Infinity" and "-Infinity". null leaves td as it is.
//
// The batch shape in the JSON must begin with td's batch shape. If a dim of td has a name, all dims
// of td keep the names that they have. Both rules are there because td may be an entry of a
// dictionary with this batch shape and these names. td keeps its class if the JSON has none. The
// zero TensorDict and New() accept any batch shape. UnmarshalJSON allocates no memory for elements
// that the JSON does not have.
//
// UnmarshalJSON returns
//
//   - tensor.ErrJSON, with the byte offset, the element or the key, if the JSON does not encode a
//     dictionary, has an unknown field, has a field or key twice, or is a preview,
//   - shapeops.ErrShape if the shape of a value does not begin with the batch shape in the JSON,
//     or that batch shape does not begin with td's,
//   - [ErrLocked] if td is locked,
//   - [ErrName] if a list of names or a class in the JSON is invalid, or two dims would have the
//     same name,
//   - [ErrDepth] if dictionaries, or the lists and objects of Data, are nested more than 256
//     deep,
//   - [ErrKind] if td is nil.
//
// On an error nothing has changed.
func (td *TensorDict) UnmarshalJSON(text []byte) error {
	return failed("unmarshal", td.unmarshal(jsonscan.New(text)))
}

func (td *TensorDict) unmarshal(s *jsonscan.Scanner) error {
	if td == nil {
		return errNil
	}
	if s.Next() == 'n' {
		return orEnd(s, s.Null())
	}
	if err := td.checkUnlocked(); err != nil {
		return err
	}
	v, err := readValueNode(s, 0)
	if err := orEnd(s, err); err != nil {
		return err
	}
	read, ok := v.(*TensorDict)
	if !ok {
		return fmt.Errorf("%w: got %s, want a dictionary", tensor.ErrJSON, describe(v))
	}
	if err := read.batch.CheckPrefix(td.batch); err != nil {
		return fmt.Errorf("batch: %w: the destination has batch shape %v: use a zero TensorDict for any shape", err, td.batch)
	}
	if v, err = td.inheritNames(read); err != nil {
		return err
	}
	read, _ = v.(*TensorDict)
	td.entries, td.batch, td.names, td.class = read.entries, read.batch, read.names, cmp.Or(read.class, td.class)
	return nil
}

// orEnd returns err. If err is nil, it returns an error unless the text has ended.
func orEnd(s *jsonscan.Scanner, err error) error {
	if err != nil {
		return err
	}
	return s.End()
}

// UnmarshalJSON sets d, which must be the zero Data, to the Data in JSON from MarshalJSON. Fields
// can be in any order. null leaves d as it is.
//
// It returns tensor.ErrJSON, with the byte offset, if the JSON does not encode Data, has an unknown
// field, or is a preview; [ErrKind] if d is not the zero Data; [ErrDepth] if a value is nested more
// than 256 deep; and shapeops.ErrShape if the shape is invalid or the number of values does not fit
// it. On an error nothing has changed.
func (d *Data) UnmarshalJSON(text []byte) error {
	read, err := readLeaf[*Data](text, "data")
	if err != nil || read == nil {
		return err
	}
	if d == nil || d.valid() {
		return fmt.Errorf("%w: want a pointer to the zero Data", ErrKind)
	}
	*d = *read
	return nil
}

// UnmarshalJSON sets u, which must be the zero Unbatched, to the unbatched tensor in JSON from
// MarshalJSON. Fields can be in any order. null leaves u as it is.
//
// It returns tensor.ErrJSON, with the byte offset or the element, if the JSON does not encode an
// unbatched tensor, has an unknown field, or is a preview; [ErrKind] if u is not the zero
// Unbatched; and shapeops.ErrShape if a shape is invalid. On an error nothing has changed.
func (u *Unbatched) UnmarshalJSON(text []byte) error {
	read, err := readLeaf[*Unbatched](text, "an unbatched tensor")
	if err != nil || read == nil {
		return err
	}
	if u == nil || u.valid() {
		return fmt.Errorf("%w: want a pointer to the zero Unbatched", ErrKind)
	}
	*u = *read
	return nil
}

// readLeaf reads the text of a T, or returns nil for null. want is the word for a T in errors.
func readLeaf[T Value](text []byte, want string) (leaf T, err error) {
	s := jsonscan.New(text)
	if s.Next() == 'n' {
		return leaf, orEnd(s, s.Null())
	}
	v, err := readValueNode(s, 0)
	if err := orEnd(s, err); err != nil {
		return leaf, err
	}
	leaf, ok := v.(T)
	if !ok {
		return leaf, fmt.Errorf("%w: got %s, want %s", tensor.ErrJSON, describe(v), want)
	}
	return leaf, nil
}

// A jsonNode is the object of a value that is being read. Its fields determine the kind of the
// value.
type jsonNode struct {
	jsonlists.Node // dtype, shape and values
	depth          int
	batch          shapeops.Shape
	dims           []string
	class          string
	names          []nestedkey.Key
	entries        []Value
	tensor         *tensor.Tensor // for an Unbatched
	value          any            // for Data
	dim            int            // for a Stacked
	members        []Value        // for a Stacked; nil where there is none
}

// readValueNode reads a value with depth dictionaries around it.
func readValueNode(s *jsonscan.Scanner, depth int) (Value, error) {
	n := jsonNode{depth: depth}
	err := s.Object(func(text []byte) error {
		field := string(text)
		if err := n.Once(field); err != nil {
			return err
		}
		return n.field(s, field)
	})
	if err != nil {
		return nil, err
	}
	return n.build()
}

// field reads the value of a field.
func (n *jsonNode) field(s *jsonscan.Scanner, name string) (err error) {
	switch name {
	case "batch":
		n.batch, err = jsonlists.ReadSizes(s)
	case "names":
		err = s.Array(func(int) error {
			if s.Next() == 'n' {
				n.dims = append(n.dims, "")
				return s.Null()
			}
			text, err := s.Text()
			n.dims = append(n.dims, string(text))
			return err
		})
	case "class":
		var text []byte
		text, err = s.Text()
		n.class = string(text)
	case "entries":
		err = n.readEntries(s)
	case "unbatched":
		n.tensor, err = readUnbatched(s)
	case "value":
		n.value, err = readValue(s, 0)
	case "stacked":
		var dim int64
		dim, err = s.Int()
		n.dim = int(min(dim, jsonlists.MaxDims))
	case "members":
		n.members, err = readMembers(s, n.depth)
	default:
		err = n.Field(s, name)
	}
	return err
}

func (n *jsonNode) readEntries(s *jsonscan.Scanner) error {
	if n.depth > MaxDepth {
		return errDepth
	}
	return s.Object(func(text []byte) error {
		name := nestedkey.Of(string(text))
		v, err := readValueNode(s, n.depth+1)
		if err != nil {
			return within("unmarshal", name, err)
		}
		n.names, n.entries = append(n.names, name), append(n.entries, v)
		return nil
	})
}

// readUnbatched reads the tensor of an Unbatched, or returns nil for null.
func readUnbatched(s *jsonscan.Scanner) (*tensor.Tensor, error) {
	node, err := jsonlists.ReadNode(s)
	if err != nil {
		return nil, fmt.Errorf("unbatched: %w", err)
	}
	if node == nil {
		return nil, nil
	}
	v, err := (&jsonNode{Node: *node}).leaf()
	if err != nil {
		return nil, fmt.Errorf("unbatched: %w", err)
	}
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("unbatched: %w: got %s, want a tensor", tensor.ErrJSON, describe(v))
	}
	return t, nil
}

// build returns the value, after all fields were read.
func (n *jsonNode) build() (Value, error) {
	kinds := []struct {
		fields []string // the first determines the kind, the others are allowed too
		make   func() (Value, error)
	}{
		{[]string{"entries", "batch", "names", "class"}, n.dict},
		{[]string{"unbatched", "batch"}, n.unbatched},
		{[]string{"stacked", "members"}, n.stacked},
		{[]string{"dtype", "shape", "values", "feature_dims"}, n.leaf},
		{[]string{"value", "shape"}, n.data},
		{[]string{"values", "shape"}, n.data},
	}
	for _, k := range kinds {
		if n.Has(k.fields[0]) {
			if err := n.Only(k.fields...); err != nil {
				return nil, err
			}
			return k.make()
		}
	}
	return nil, fmt.Errorf("%w: got an object without the field that tells its kind: "+
		`"entries", "unbatched", "stacked", "dtype", "value" or "values"`, tensor.ErrJSON)
}

// dict returns n as a dictionary.
func (n *jsonNode) dict() (Value, error) {
	if err := n.Want("batch"); err != nil {
		return nil, err
	}
	if err := n.batch.Check(); err != nil {
		return nil, err
	}
	if n.Has("names") && len(n.dims) != len(n.batch) {
		return nil, fmt.Errorf("%w: got %d names, want one for each dim of %v", ErrName, len(n.dims), n.batch)
	}
	if err := cmp.Or(checkDistinct(n.dims), checkClass(n.class)); err != nil {
		return nil, err
	}
	for i, v := range n.entries {
		shape := v.Shape()
		if u, ok := v.(*Unbatched); ok {
			shape = u.batch
		}
		if err := shape.CheckPrefix(n.batch); err != nil {
			return nil, within("unmarshal", n.names[i], err)
		}
	}
	entries, first, second := storeOf(n.names, n.entries)
	if first != second {
		return nil, fmt.Errorf("%w: duplicate entry %.40q", tensor.ErrJSON, n.names[second].Name())
	}
	return &TensorDict{batch: n.batch, entries: entries, header: header{names: tidy(n.dims), class: n.class}}, nil
}

func (n *jsonNode) unbatched() (Value, error) {
	if err := n.Want("batch"); err != nil {
		return nil, err
	}
	if n.tensor == nil {
		return nil, fmt.Errorf("%w: got null, want a tensor", tensor.ErrJSON)
	}
	u := unbatched(n.tensor, n.batch)
	return u, u.shape.Check()
}

// leaf returns n as a tensor or a ragged tensor.
func (n *jsonNode) leaf() (Value, error) {
	l, err := n.Lists()
	if err != nil {
		return nil, err
	}
	if n.Stars == "" {
		t := new(tensor.Tensor)
		return asValue(t, t.Ops().(jsonlists.Reader).Read(l))
	}
	t := new(ragged.Tensor)
	return asValue(t, t.Ops().(jsonlists.Reader).Read(l))
}

// data returns n as Data.
func (n *jsonNode) data() (Value, error) {
	if err := n.Want("shape"); err != nil {
		return nil, err
	}
	if n.Stars != "" {
		return nil, fmt.Errorf("%w: got the shape %.40q of data, want a list of sizes", tensor.ErrJSON, n.Stars)
	}
	if n.Has("value") {
		rows, err := plan.OneRow(n.Shape...)
		return &Data{rows: rows, values: []any{n.value}}, err
	}
	values, err := readList(n.Values, -1)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	rows, err := plan.NewRows(n.Shape...)
	if err != nil {
		return nil, err
	}
	list := values.([]any)
	if len(list) != rows.Count() {
		return nil, fmt.Errorf("%w: got %d values, want the %d of %v", shapeops.ErrShape, len(list), rows.Count(), rows.Shape())
	}
	return &Data{rows: rows, values: list}, nil
}
