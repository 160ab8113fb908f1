package columns

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// primitives has the types of dtypes, and functions that return elements as tensor.Slice does.
var primitives = map[tensor.DType]struct {
	typ   arrow.DataType
	slice func(*tensor.Tensor) ([]byte, error)
}{
	tensor.Bool:    {arrow.FixedWidthTypes.Boolean, bools},
	tensor.Int8:    {arrow.PrimitiveTypes.Int8, slice[int8]},
	tensor.Int16:   {arrow.PrimitiveTypes.Int16, slice[int16]},
	tensor.Int32:   {arrow.PrimitiveTypes.Int32, slice[int32]},
	tensor.Int64:   {arrow.PrimitiveTypes.Int64, slice[int64]},
	tensor.Uint8:   {arrow.PrimitiveTypes.Uint8, slice[uint8]},
	tensor.Uint16:  {arrow.PrimitiveTypes.Uint16, slice[uint16]},
	tensor.Uint32:  {arrow.PrimitiveTypes.Uint32, slice[uint32]},
	tensor.Uint64:  {arrow.PrimitiveTypes.Uint64, slice[uint64]},
	tensor.Float16: {arrow.FixedWidthTypes.Float16, slice[tensor.F16]},
	tensor.Float32: {arrow.PrimitiveTypes.Float32, slice[float32]},
	tensor.Float64: {arrow.PrimitiveTypes.Float64, slice[float64]},
}

func slice[T tensor.Elem](t *tensor.Tensor) ([]byte, error) {
	s, err := tensor.Slice[T](t)
	return cast.Bytes(s), err
}

// bools returns bools as bits.
func bools(t *tensor.Tensor) ([]byte, error) {
	s, err := tensor.Slice[bool](t)
	return pack(s), err
}

// leaf makes the elements of n values, or texts. Values whose bit is false are missing.
func (w *writer) leaf(s *tdict.Spec, v tdict.Value, n int, present []bool) (item, error) {
	if d, ok := v.(*tdict.Data); ok {
		return w.data(d, n)
	}
	t, ok := v.(*tensor.Tensor)
	if r, isRagged := v.(*ragged.Tensor); isRagged {
		var err error
		if t, err = r.Values(); err != nil {
			return item{}, err
		}
		if ok = true; s.Kind == tdict.KindText {
			return w.texts(r, t, n)
		}
	}
	if !ok {
		return item{}, fmt.Errorf("%w: got %v, want a tensor, a ragged tensor, text or Data of texts", tdict.ErrKind, s.Kind)
	}
	p, ok := primitives[t.DType()]
	if !ok {
		return item{}, fmt.Errorf("%w: got %v, which Arrow does not have", ErrType, t.DType())
	}
	b, err := p.slice(t)
	if err != nil {
		return item{}, err
	}
	it := item{typ: p.typ, n: t.Size(), buffers: [][]byte{b}}
	isMissing := func(i int) bool { return present != nil && !present[i/(it.n/n)] }
	switch {
	case s.Categories != nil:
		if err = it.categories(s.Categories); err == nil {
			err = it.checkCodes(isMissing)
		}
	case s.Time != "":
		err = it.times(s, isMissing)
	}
	return it, err
}

// times makes dates or timestamps of integers; other units stay integers.
func (it *item) times(s *tdict.Spec, isMissing func(i int) bool) error {
	units := map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}
	if unit, ok := units[s.Unit]; ok {
		t := &arrow.TimestampType{Unit: unit}
		if strings.Contains(s.Time, "Z") || strings.Contains(s.Time, "-07") || strings.Contains(s.Time, "MST") {
			t.TimeZone = "UTC"
		}
		it.typ = t
	}
	if s.Unit != "d" {
		return nil
	}
	src, dst := it.buffers[0], make([]byte, 4*it.n)
	for i := range it.n {
		day := int64(binary.NativeEndian.Uint64(src[8*i:]))
		if isMissing(i) {
			day = 0
		}
		if day != int64(int32(day)) {
			return fmt.Errorf("%w: got day %d at %d, want one that int32 holds", tdict.ErrSchema, day, i)
		}
		binary.NativeEndian.PutUint32(dst[4*i:], uint32(day))
	}
	it.typ, it.buffers = arrow.FixedWidthTypes.Date32, [][]byte{dst}
	return nil
}

// categories makes indices into a dictionary of integers.
func (it *item) categories(texts []string) (err error) {
	it.typ = &arrow.DictionaryType{IndexType: it.typ, ValueType: arrow.BinaryTypes.String}
	it.dict, err = textsOf(texts)
	return err
}

// checkCodes returns an error for a code without a text.
func (it *item) checkCodes(isMissing func(i int) bool) error {
	f, _, err := formOf(it.typ)
	if err != nil {
		return err
	}
	for i := range it.n {
		if code := f.integer(it.buffers[0], i); uint(code) >= uint(it.dict.Len()) && !isMissing(i) {
			return fmt.Errorf("%w: got code %d at %d, want one of %d categories", tdict.ErrSchema, code, i, it.dict.Len())
		}
	}
	return nil
}

// textsOf returns an array of texts.
func textsOf(texts []string) (*array.Data, error) {
	offsets, data := make([]int32, 1, len(texts)+1), []byte{}
	for _, text := range texts {
		if data = append(data, text...); len(data) > math.MaxInt32 || !utf8.ValidString(text) {
			return nil, fmt.Errorf("%w: got the text %s, want UTF-8 of at most 2 GiB", tdict.ErrSchema, errtext.Quote(text))
		}
		offsets = append(offsets, int32(len(data)))
	}
	it := item{typ: arrow.BinaryTypes.String, n: len(texts), buffers: [][]byte{cast.Bytes(offsets), data}}
	return it.data(), nil
}

// data makes a dictionary array of n texts, or an array of texts for a file.
func (w *writer) data(d *tdict.Data, n int) (item, error) {
	codes, texts, numbers := make([]int32, 0, n), []string{}, map[string]int32{}
	present := make([]bool, 0, n)
	for v := range d.All() {
		text, ok := v.(string)
		if !ok && v != nil {
			return item{}, fmt.Errorf("%w: got Data of %T, want texts", tdict.ErrKind, v)
		}
		code := numbers[text]
		if _, known := numbers[text]; !known && ok {
			code = int32(len(texts))
			numbers[text], texts = code, append(texts, text)
		}
		codes, present = append(codes, code), append(present, ok)
	}
	it := item{typ: arrow.PrimitiveTypes.Int32, n: len(codes), buffers: [][]byte{cast.Bytes(codes)}, present: present, nullable: true}
	if !w.ofFile {
		return it, it.categories(texts)
	}
	offsets, all := make([]int64, 1, len(codes)+1), []byte{}
	for i, code := range codes {
		if present[i] {
			all = append(all, texts[code]...)
		}
		offsets = append(offsets, int64(len(all)))
	}
	it.typ, it.buffers = arrow.BinaryTypes.LargeString, [][]byte{cast.Bytes(offsets), all}
	return it, nil
}

// texts makes n texts of a ragged tensor with bytes.
func (w *writer) texts(r *ragged.Tensor, t *tensor.Tensor, n int) (item, error) {
	b, err := tensor.Slice[uint8](t)
	if err != nil {
		return item{}, err
	}
	offsets, err := w.layout(r.Layout()).Offsets(-1)
	if err != nil {
		return item{}, err
	}
	if i := slices.IndexFunc(offsets, func(x int64) bool { return x < int64(len(b)) && !utf8.RuneStart(b[x]) }); i >= 0 || !utf8.Valid(b) {
		return item{}, fmt.Errorf("%w: got bytes that are not UTF-8, want text: ragged uint8 has any bytes", tdict.ErrSchema)
	}
	return item{typ: arrow.BinaryTypes.LargeString, n: n, buffers: [][]byte{cast.Bytes(offsets), b}}, nil
}
