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

// A Schema lists the entries that a dictionary has, in order, for any batch shape. The entries of
// nested dictionaries are listed with their full keys:
//
//	schema := tdict.Schema{
//		{Key: "obs/pos", DType: tensor.Float32, Shape: shapeops.Shape{3}},
//		{Key: "visits", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
//		{Key: "name", Kind: tdict.KindText, Optional: true},
//	}
//
// [Schema.Check] compares a dictionary with a schema: call it where data come in and where they go
// out. [TensorDict.Lock] keeps the structure in between. [Schema.MarshalJSON] writes a schema for
// programs in any language.
//
// A Schema is a slice and can be changed like one. Of its methods only UnmarshalJSON changes it. A
// method that can fail returns the error of [Schema.Validate], an [ErrSchema] with the key, if the
// schema is invalid.
type Schema []Spec

// A Spec describes an entry. Fields that do not apply to its kind are zero.
type Spec struct {
	Key  nestedkey.Key
	Kind Kind
	// DType is the dtype of a tensor, a ragged or an unbatched one, or of all members of a stack.
	// The zero DType means any dtype.
	DType tensor.DType
	// Shape has the dims after the batch shape of the dictionary; for some kinds only a part of
	// them:
	//
	//   - KindRagged: the dims after the levels.
	//   - KindText: the dims before the level, as if each text were one element.
	//   - KindUnbatched: the shape of the tensor.
	//   - KindStacked: the dims of [Stacked.Shape] after the batch shape of the dictionary, which
	//     are leading dims that all members share. The stack dim is one of them unless it is a
	//     batch dim.
	//
	// A size can be [Any].
	Shape shapeops.Shape
	// Batch is for two kinds; other kinds have all dims in Shape:
	//
	//   - KindRagged: the dims between the batch shape of the dictionary and the levels.
	//   - KindUnbatched: the dims between the batch shape of the dictionary and the shape of the
	//     tensor.
	Batch shapeops.Shape
	// Depth is the number of levels of a ragged tensor. For text it is the number of levels of
	// lists around each text: 1 for a list of texts in each row, which has two levels. For a
	// dictionary it is the number of levels that the entries below it begin with and share: 1 for
	// the columns of a list of objects in each row.
	Depth int
	// Optional says that a dictionary may lack the entry. In a table, which packages csv and jsonl
	// read, a row may have no value for the entry; the chunks that are read have a Mask for it.
	Optional bool
	// Mask is the key of the entry's mask, or "" for none: bools, true where a value is present.
	// Only this field makes an entry a mask, whatever its key is; several entries may have the same
	// mask. [Schema.MaskOf] returns it, and says which shape it has. Statistics and writers of
	// tables that get the schema leave out the values that a mask hides.
	Mask nestedkey.Key
	// Unit is the unit of the numbers, such as "mmHg". With Time it is one of [TimeUnits].
	Unit string
	// Time, if not "", is a layout of package time: int64 numbers are Units since the beginning of
	// 1970 in UTC, and tables spell them by this layout, such as "2006-01-02".
	Time string
	// Bare says that tables spell floating-point numbers that are whole as integers: 1, not 1.0.
	Bare bool
	// Categories, if not nil, are texts for which integers stand: the code i for Categories[i].
	// Tables have the texts.
	Categories []string
	// Columns are the names in a table, if the key does not say them: the column of csv for each
	// element of Shape, or the field of a JSON object or the array of a file.
	Columns []string
	// Doc is a description for people.
	Doc string
}

// Any as a size in a [Spec] means any size.
const Any = -1

// A Kind is a kind of entry in a [Schema]. The zero Kind is KindTensor.
type Kind uint8

// The kinds of entries. A dictionary needs a Spec only if it is empty, is Optional, has a Doc, or
// has more batch dims than the outermost dictionary. Otherwise the keys of its entries imply it.
const (
	KindTensor    Kind = iota
	KindRagged         // a ragged tensor
	KindText           // a ragged tensor that holds texts: see ragged.FromStrings
	KindDict           // a dictionary
	KindData           // a Data
	KindUnbatched      // an Unbatched
	KindStacked        // a Stacked
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

// typed reports whether entries of the kind have a dtype.
func (k Kind) typed() bool {
	return k == KindTensor || k == KindRagged || k == KindUnbatched || k == KindStacked
}

// SchemaOf returns the schema of td, or nil if td is nil. Text is listed as KindRagged of uint8,
// since a dictionary does not say which bytes are text. Dictionaries in td are listed as KindDict
// only if they are empty or have more batch dims than td.
func SchemaOf(td *TensorDict) Schema {
	if td == nil {
		return nil
	}
	var s Schema
	td.walk(nil, func(key nestedkey.Key, v Value) bool {
		spec := specOf(v, len(td.batch)).clone()
		spec.Key = key
		if d, ok := v.(*TensorDict); !ok || d.NumEntries() == 0 || len(spec.Shape) > 0 {
			s = append(s, spec)
		}
		return true
	})
	return s
}

// clone returns a copy of s that shares no memory.
func (s Spec) clone() Spec {
	s.Batch, s.Shape = s.Batch.Clone(), s.Shape.Clone()
	s.Categories, s.Columns = slices.Clone(s.Categories), slices.Clone(s.Columns)
	return s
}

// specOf returns the spec of v, without a key, in a dictionary with dims batch dims. Its shapes
// share memory with v.
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
//   - Keys are valid, have at most 257 parts, and are distinct.
//   - An entry that has entries below it is a dictionary, and comes before them.
//   - A Spec has only fields that apply to its kind, and no negative size except [Any].
//   - A Mask can be the mask of the entry, as [Schema.MaskOf] says. s need not list the mask.
func (s Schema) Validate() error {
	_, err := s.index()
	return err
}

// A schemaIndex finds the specs of a schema by key.
type schemaIndex struct {
	specs map[nestedkey.Key]*Spec
	outer map[nestedkey.Key]bool // the keys of dictionaries that have entries
}

// index returns the index of s. It returns the error of Validate.
func (s Schema) index() (schemaIndex, error) {
	x := schemaIndex{make(map[nestedkey.Key]*Spec, len(s)), map[nestedkey.Key]bool{}}
	for i := range s {
		if err := x.add(&s[i]); err != nil {
			return x, failedKey("schema", s[i].Key, err)
		}
	}
	return x, x.checkMasks(s)
}

// add adds a spec. It returns an error if the spec is invalid or conflicts with those before it.
func (x schemaIndex) add(s *Spec) error {
	if err := s.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrSchema, err)
	}
	if x.specs[s.Key] != nil {
		return fmt.Errorf("%w: duplicate key", ErrSchema)
	}
	if x.outer[s.Key] {
		return fmt.Errorf("%w: got the dictionary after one of its entries, want it before them", ErrSchema)
	}
	for key, ok := s.Key.Parent(); ok; key, ok = key.Parent() {
		if in := x.specs[key]; in != nil && in.Kind != KindDict {
			return fmt.Errorf("%w: got an entry of %q, which has kind %v", ErrSchema, key, in.Kind)
		}
		x.outer[key] = true
	}
	x.specs[s.Key] = s
	return nil
}

// check returns an error unless s is valid by itself.
func (s *Spec) check() error {
	if err := s.Key.Check(); err != nil {
		return err
	}
	if n := strings.Count(string(s.Key), "/"); n > MaxDepth {
		return fmt.Errorf("%w: got a key of %d parts", ErrDepth, n+1)
	}
	if int(s.Kind) >= len(kindNames) {
		return fmt.Errorf("%w: got the unknown %v", ErrKind, s.Kind)
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
	switch {
	case s.DType != 0 && !s.Kind.typed():
		return fmt.Errorf("%w: got dtype %v for kind %v, want none", tensor.ErrDType, s.DType, s.Kind)
	case s.Depth != 0 && s.Kind != KindRagged && s.Kind != KindText && s.Kind != KindDict:
		return fmt.Errorf("%w: got Depth %d for kind %v, which has no levels, want 0", shapeops.ErrDim, s.Depth, s.Kind)
	case s.Depth > 0 && len(s.Shape) > 0 && s.Kind == KindText:
		return fmt.Errorf("%w: got Depth %d and Shape %v for text, want only one of them", shapeops.ErrDim, s.Depth, s.Shape)
	case s.Depth < 0 || s.Depth > MaxDepth:
		return fmt.Errorf("%w: got Depth %d, want 0 to %d", shapeops.ErrDim, s.Depth, MaxDepth)
	case len(s.Batch) > 0 && s.Kind != KindRagged && s.Kind != KindUnbatched:
		return fmt.Errorf("%w: got Batch %v for kind %v, want its dims in Shape", shapeops.ErrShape, s.Batch, s.Kind)
	}
	return s.checkMeaning()
}

// sizes returns the sizes of Batch and Shape.
func (s *Spec) sizes() shapeops.Shape { return slices.Concat(s.Batch, s.Shape) }
