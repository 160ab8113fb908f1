package tdict

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Schema lists the entries that a dictionary has, in order, whatever its batch shape is. It has
// a nested dictionary by listing the entries in it:
//
//	schema := tdict.Schema{
//		{Key: "obs/pos", DType: tensor.Float32, Shape: shapeops.Shape{3}},
//		{Key: "visits", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
//		{Key: "name", Kind: tdict.KindText, Optional: true},
//	}
//
// [Schema.Check] compares a dictionary with a schema when it is called, and [TensorDict.Enforce]
// makes a schema hold from then on. [Schema.MarshalJSON] writes a schema for programs in any
// language.
//
// A Schema is a slice and can be changed like one. Only UnmarshalJSON changes it. Methods that
// return an error return [ErrSchema], with the key, if [Schema.Validate] does.
type Schema []Spec

// A Spec says what an entry is. Fields that its kind does not have are zero.
type Spec struct {
	Key  nestedkey.Key
	Kind Kind
	// DType is the dtype of a tensor, a ragged or an unbatched one, or of all members of a stack;
	// 0, which is no dtype, is any.
	DType tensor.DType
	// Shape has the dims after the batch shape of the dictionary; of a ragged tensor the dims after
	// the levels, of text the dims before the level, of an unbatched tensor its own shape. A size
	// can be [Any]. Of stacked members it has the dims on which they agree.
	Shape shapeops.Shape
	// Batch has the further batch dims of a ragged tensor, between the batch shape of the
	// dictionary and the levels, and of an unbatched one. Other kinds have all dims in Shape.
	Batch shapeops.Shape
	// Depth is the number of levels of a ragged tensor.
	Depth int
	// Optional says that a dictionary may lack the entry. In a table, which packages csv and jsonl
	// read, it says that a row may lack the value: the entry then has a mask beside it.
	Optional bool
	// Doc says for people what the entry means.
	Doc string
}

// Any is the size, in a [Spec], of a dim that may have any size.
const Any = -1

// A Kind is a kind of entry in a [Schema]. The zero Kind is KindTensor.
type Kind uint8

// The kinds of entries.
const (
	KindTensor    Kind = iota
	KindRagged         // a ragged tensor
	KindText           // a ragged tensor that holds texts: see ragged.FromStrings
	KindDict           // a dictionary, for one that is empty, optional, documented, or has dims of its own
	KindData           // see Data
	KindUnbatched      // see Unbatched
	KindStacked        // see Stacked
)

var kindNames = [...]string{"tensor", "ragged", "text", "dictionary", "data", "unbatched", "stacked"}

// String returns the name of k, as in JSON: "tensor", "ragged", "text", "dictionary", "data",
// "unbatched" or "stacked".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// typed reports whether entries have a dtype.
func (k Kind) typed() bool {
	return k == KindTensor || k == KindRagged || k == KindUnbatched || k == KindStacked
}

// SchemaOf returns the schema of td, or nil if td is nil. Text is KindRagged of uint8 in it:
// nothing in a dictionary says that bytes are text. Dictionaries in td are listed, as KindDict, if
// they are empty or have more batch dims than td.
func SchemaOf(td *TensorDict) Schema {
	if td == nil {
		return nil
	}
	var s Schema
	td.walk(nil, func(key nestedkey.Key, v Value) bool {
		spec := specOf(v, len(td.batch)).clone()
		spec.Key = key
		if d, ok := asDict(v); !ok || d.NumEntries() == 0 || len(spec.Shape) > 0 {
			s = append(s, spec)
		}
		return true
	})
	return s
}

// clone returns a copy of s that shares no memory.
func (s Schema) clone() Schema {
	c := make(Schema, len(s))
	for i := range s {
		c[i] = s[i].clone()
	}
	return c
}

func (s Spec) clone() Spec {
	s.Batch, s.Shape = s.Batch.Clone(), s.Shape.Clone()
	return s
}

// specOf returns the spec of v, without a key, in a dictionary with dims batch dims. Its shapes are
// those of v.
func specOf(v Value, dims int) Spec {
	s := opsOf(v).spec(v)
	all := v.Shape()[dims:]
	switch s.Kind {
	case KindRagged:
		s.Batch = all
	case KindUnbatched:
		s.Batch = all[:len(all)-len(s.Shape)]
	default:
		s.Shape = all
	}
	return s
}

// Validate returns [ErrSchema] in a [*KeyError] unless s can be the schema of a dictionary:
//
//   - keys are valid, at most 257 parts long, and distinct;
//   - an entry that others are in is a dictionary, and comes before them;
//   - a Spec has only the fields of its kind, and no negative size but [Any].
func (s Schema) Validate() error {
	_, err := s.index()
	return err
}

// A schemaIndex finds the specs of a schema.
type schemaIndex struct {
	specs map[nestedkey.Key]*Spec
	outer map[nestedkey.Key]bool // keys that entries are in
}

// index returns the index of s, or the error of Validate.
func (s Schema) index() (schemaIndex, error) {
	x := schemaIndex{make(map[nestedkey.Key]*Spec, len(s)), map[nestedkey.Key]bool{}}
	for i := range s {
		if err := x.add(&s[i]); err != nil {
			return x, &KeyError{"schema", s[i].Key, err}
		}
	}
	return x, nil
}

// add adds a spec, or returns an error if it is invalid or does not go with those before.
func (x schemaIndex) add(s *Spec) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if x.specs[s.Key] != nil {
		return fmt.Errorf("%w: got the key twice", ErrSchema)
	}
	if x.outer[s.Key] {
		return fmt.Errorf("%w: got it after an entry in it, want a dictionary that comes before", ErrSchema)
	}
	for key, ok := s.Key.Parent(); ok; key, ok = key.Parent() {
		if in := x.specs[key]; in != nil && in.Kind != KindDict {
			return fmt.Errorf("%w: got an entry in %q, a %v", ErrSchema, key, in.Kind)
		}
		x.outer[key] = true
	}
	x.specs[s.Key] = s
	return nil
}

// check returns an error unless s is a Spec that an entry can have.
func (s *Spec) check() error {
	if err := s.Key.Check(); err != nil {
		return err
	}
	if n := strings.Count(string(s.Key), "/"); n > MaxDepth {
		return fmt.Errorf("%w: got a key of %d parts", ErrDepth, n+1)
	}
	if int(s.Kind) >= len(kindNames) {
		return fmt.Errorf("%w: got %v", ErrKind, s.Kind)
	}
	if s.DType != 0 && s.DType.Size() == 0 {
		return fmt.Errorf("%w: got %v", tensor.ErrDType, s.DType)
	}
	if !utf8.ValidString(s.Doc) {
		return fmt.Errorf("got a Doc that is not UTF-8")
	}
	if sizes := s.sizes(); slices.ContainsFunc(sizes, func(n int) bool { return n < Any }) {
		return fmt.Errorf("%w: got %v, want no negative size but Any", shapeops.ErrShape, sizes)
	}
	return s.checkFields()
}

// sizes returns the sizes of Batch and of Shape.
func (s *Spec) sizes() shapeops.Shape { return slices.Concat(s.Batch, s.Shape) }

// checkFields returns an error if s has a field that its kind does not have.
func (s *Spec) checkFields() error {
	switch {
	case s.DType != 0 && !s.Kind.typed():
		return fmt.Errorf("%w: got %v of a %v, want none", tensor.ErrDType, s.DType, s.Kind)
	case s.Depth != 0 && s.Kind != KindRagged:
		return fmt.Errorf("%w: got depth %d of a %v, want none", shapeops.ErrDim, s.Depth, s.Kind)
	case s.Depth < 0 || s.Depth > MaxDepth:
		return fmt.Errorf("%w: got depth %d, want 0 to %d", shapeops.ErrDim, s.Depth, MaxDepth)
	case len(s.Batch) > 0 && s.Kind != KindRagged && s.Kind != KindUnbatched:
		return fmt.Errorf("%w: got Batch %v of a %v, want its dims in Shape", shapeops.ErrShape, s.Batch, s.Kind)
	}
	return nil
}
