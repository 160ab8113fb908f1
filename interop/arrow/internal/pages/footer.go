package pages

import "math"

// What values cost in memory, roughly.
const (
	structCost  = 384 // of a struct, with what the library makes of it
	elementCost = 24  // of an element of a list, and of a text
	columnCost  = 1024
)

// The structs of a footer that have lists, or integers that are checked.
var (
	schemaElement = &kind{map[int16]field{2: {typ: typeInt32}, 5: {typ: typeInt32}}}
	sizes         = &kind{map[int16]field{2: {typ: typeList, elem: typeInt64}, 3: {typ: typeList, elem: typeInt64}}}
	geo           = &kind{map[int16]field{2: {typ: typeList, elem: typeInt32}}}
	columnMeta    = &kind{map[int16]field{
		2: {typ: typeList, elem: typeInt32}, 3: {typ: typeList, elem: typeBinary}, 8: {typ: typeList, elem: typeStruct},
		13: {typ: typeList, elem: typeStruct}, 16: {typ: typeStruct, of: sizes}, 17: {typ: typeStruct, of: geo},
	}}
	columnChunk = &kind{map[int16]field{3: {typ: typeStruct, of: columnMeta}, 8: {typ: typeStruct, of: encryption}}}
	rowGroup    = &kind{map[int16]field{1: {typ: typeList, elem: typeStruct, of: columnChunk}, 4: {typ: typeList, elem: typeStruct}}}
	encryption  = &kind{}
	fileMeta    = &kind{map[int16]field{
		2: {typ: typeList, elem: typeStruct, of: schemaElement}, 4: {typ: typeList, elem: typeStruct, of: rowGroup},
		5: {typ: typeList, elem: typeStruct}, 7: {typ: typeList, elem: typeStruct}, 8: {typ: typeStruct, of: encryption},
	}}
)

// CheckFooter checks the metadata of a file: that lists and texts are no longer than the rest of
// the bytes, that it is not nested too deep, that the schema is a tree, and that the library takes
// no more than most bytes for it. It returns [ErrCorrupt] or [ErrMemory].
func CheckFooter(b []byte, most int64) error {
	tree := tree{}
	w := &walker{b: b, most: most}
	w.see = func(k *kind, id int16, v int64) error {
		switch {
		case k == encryption:
			return unsupported("it is encrypted")
		case k == schemaElement && id == 0:
			if err := w.pay(columnCost); err != nil {
				return err
			}
			return tree.element()
		case k == schemaElement && id == 5:
			return tree.children(v)
		case k == schemaElement && id == 2 && (v < 0 || v > math.MaxInt32):
			return corrupt("the schema has values of %d bytes", v)
		}
		return nil
	}
	if err := w.structure(fileMeta, 0); err != nil {
		return err
	}
	return tree.end()
}

// A tree follows the elements of a schema, which are listed depth first.
type tree struct {
	open   []int64 // the children that are still to come, of the groups around the next element
	n      int
	groups bool // the element in hand has said its number of children
}

// element begins an element.
func (t *tree) element() error {
	t.groups = false
	if t.n++; t.n == 1 {
		return nil
	}
	for len(t.open) > 0 && t.open[len(t.open)-1] == 0 {
		t.open = t.open[:len(t.open)-1]
	}
	if len(t.open) == 0 {
		return corrupt("the schema has more elements than its groups have children")
	}
	t.open[len(t.open)-1]--
	return nil
}

// maxSchema is the deepest nesting of a schema: a list takes two levels, and Arrow has 64 lists.
const maxSchema = 130

// children says that the element in hand has n children.
func (t *tree) children(n int64) error {
	switch {
	case n == 0:
		return nil
	case n < 0 || n > math.MaxInt32 || t.groups:
		return corrupt("a group of the schema has %d children", n)
	case len(t.open) >= maxSchema:
		return unsupported("the schema is nested more than %d deep", maxSchema)
	}
	t.groups = true
	t.open = append(t.open, n)
	return nil
}

// end checks that the schema has all its elements.
func (t *tree) end() error {
	if t.n == 0 {
		return corrupt("it has no schema")
	}
	for _, left := range t.open {
		if left > 0 {
			return corrupt("the schema lacks %d elements", left)
		}
	}
	return nil
}
