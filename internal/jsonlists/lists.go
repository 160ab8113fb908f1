package jsonlists

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/elemtext"
	"github.com/go-tensordict/tensordict/internal/jsonscan"
)

// MaxElements is the largest number of elements and rows of levels of a leaf that is written whole.
const MaxElements = 1 << 24

// PreviewSize returns the largest number of elements of a preview of n.
func PreviewSize(n int) int { return min(max(n, 0), MaxElements) }

// MaxDims is the largest number of dims, including levels, of lists. With it, lists in the most
// deeply nested dictionaries are still nested less than jsonscan.MaxDepth.
const MaxDims = 400

// Lists are elements of one dtype, row-major, in nested lists: for batch dims, for levels of rows
// that each have their own length, and for feature dims.
type Lists struct {
	DType    string
	Batch    []int
	Levels   [][]int64 // offsets of the rows of each level, beginning with 0
	Features []int
	Data     []byte // in the machine's byte order
}

// ragged replaces the size of a dim whose rows have their own lengths.
const ragged = -1

// sizes returns the size of each dim of the nested lists. It leaves out the dims after a size of 0,
// and the dims before it within the batch or the features.
func sizes(batch []int, levels int, features []int) []int {
	if slices.Contains(batch, 0) {
		return []int{0}
	}
	out := slices.Concat(batch, slices.Repeat([]int{ragged}, levels))
	if slices.Contains(features, 0) {
		return append(out, 0)
	}
	return append(out, features...)
}

// Append appends the nested lists. The dtype, the sizes and the offsets must be valid.
func (l *Lists) Append(b []byte) []byte {
	w := writer{
		sizes: sizes(l.Batch, len(l.Levels), l.Features), lists: l, first: len(l.Batch),
		elem: elemtext.Of(l.DType), data: l.Data, rows: make([]int, len(l.Levels)),
	}
	return w.append(b, 0)
}

type writer struct {
	lists *Lists
	sizes []int
	first int   // dim of the first level
	rows  []int // numbers of the next rows
	elem  *elemtext.Elem
	data  []byte // the elements that are not written yet
}

// append appends the next list of a dim.
func (w *writer) append(b []byte, dim int) []byte {
	if dim == len(w.sizes) {
		b = appendElem(b, w.elem, w.data)
		w.data = w.data[w.elem.Size:]
		return b
	}
	b = append(b, '[')
	for i := range w.size(dim) {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.append(b, dim+1)
	}
	return append(b, ']')
}

// size returns the number of entries in the next list of a dim.
func (w *writer) size(dim int) int {
	if w.sizes[dim] != ragged {
		return w.sizes[dim]
	}
	level := dim - w.first
	row := w.rows[level]
	w.rows[level]++
	return int(w.lists.Levels[level][row+1] - w.lists.Levels[level][row])
}

// Read reads nested lists of a dtype and a shape with levels levels. It allocates memory in
// proportion to what it has read.
func Read(s *jsonscan.Scanner, dtype string, batch []int, levels int, features []int) (*Lists, error) {
	r := reader{
		s: s, elem: elemtext.Of(dtype), sizes: sizes(batch, levels, features), first: len(batch),
		levels: make([][]int64, levels),
	}
	if r.elem == nil {
		return nil, fmt.Errorf("%w: got unknown dtype %.40q", jsonscan.ErrSyntax, dtype)
	}
	if n := len(batch) + levels + len(features); n > MaxDims {
		return nil, fmt.Errorf("%w: got %d dims, want at most %d", jsonscan.ErrSyntax, n, MaxDims)
	}
	for i := range r.levels {
		r.levels[i] = []int64{0}
	}
	r.counts, r.entries = make([]int, len(r.sizes)), make([]func(int) error, len(r.sizes))
	for dim := range r.entries {
		r.entries[dim] = func(i int) error { return r.entry(dim, i) }
	}
	if err := r.read(0); err != nil {
		return nil, err
	}
	return &Lists{dtype, batch, r.levels, features, slices.Clip(r.data)}, nil
}

type reader struct {
	s       *jsonscan.Scanner
	elem    *elemtext.Elem
	data    []byte // the elements read
	sizes   []int
	first   int // dim of the first level
	levels  [][]int64
	counts  []int             // number of entries in the current list, by dim
	entries []func(int) error // method entry for each dim, made once rather than for each list
}

// read reads a list of a dim or, after the last dim, an element.
func (r *reader) read(dim int) error {
	if dim == len(r.sizes) {
		data, err := readElem(r.s, r.elem, r.data)
		if err != nil {
			return fmt.Errorf("element %d: %w", len(r.data)/r.elem.Size, err)
		}
		r.data = data
		return nil
	}
	r.counts[dim] = 0
	if err := r.s.Array(r.entries[dim]); err != nil {
		return err
	}
	n, want := r.counts[dim], r.sizes[dim]
	if want == ragged {
		offsets := &r.levels[dim-r.first]
		*offsets = append(*offsets, (*offsets)[len(*offsets)-1]+int64(n))
		return nil
	}
	if n < want {
		return r.miscounted(dim, fmt.Sprint(n))
	}
	return nil
}

// entry reads entry i of a list of a dim.
func (r *reader) entry(dim, i int) error {
	if want := r.sizes[dim]; i >= want && want != ragged {
		return r.miscounted(dim, fmt.Sprintf("more than %d", want))
	}
	r.counts[dim] = i + 1
	return r.read(dim + 1)
}

// miscounted returns the error for a list with too few or too many entries.
func (r *reader) miscounted(dim int, got string) error {
	return fmt.Errorf("%w: got a list of %s, want %d for dim %d", jsonscan.ErrSyntax, got, r.sizes[dim], dim)
}
