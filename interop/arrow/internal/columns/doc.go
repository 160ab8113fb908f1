// Package columns makes dictionaries of Arrow's record batches, and record batches of dictionaries.
// Packages tdarrow and tdparquet use it for files.
//
//	r, err := columns.NewReader(schema, columns.Options{})
//	for each record batch {
//		td, err := r.Dict(batch) // valid until the next call
//	}
//
//	rec, err := columns.FromDict(td, nil)
//
// # From batches
//
// A column is a tree that is made once for an Arrow schema (column.go): a field is steps, which are
// the lists around its values from the outermost on, and a leaf, which is elements, texts, codes or
// a struct with columns in it. An [Inferrer] proposes a tdict.Schema for columns (infer.go), and
// bindAll says for each step whether it is a level or dims of the entry (bind.go).
//
// For each batch, Reader.column goes from the outside in (convert.go). It carries
//
//   - the elements that are left, as runs of an array: one run unless a null list is not empty, or
//     views and dictionaries say otherwise. A single run is shared, several are copied
//   - which of them are present: the nulls of all places outside, down to the last list, whose
//     nulls have no elements
//   - the layout of the lists so far. Equal offsets become one layout
//
// check.go compares buffers with types first, so that the other functions stay within them; they
// check offsets, indices and headers of views as they read them. Every allocation is counted
// against Options.MaxMemory.
//
// # From dictionaries
//
// The entries of a schema are a tree too (entry.go). A writer makes an item of each from the inside
// out (item.go): elements (elements.go), features, levels, dims, with the nulls that the masks of
// the entry have at each depth.
package columns
