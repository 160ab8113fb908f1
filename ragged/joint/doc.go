// Package joint implements collections of named ragged tensors that are cut into rows together: a
// whole dataset of patients, their visits and the codes of the visits.
//
//	j, err := joint.New(
//		joint.Field{Name: "day", Tensor: day},     // [N *]
//		joint.Field{Name: "codes", Tensor: codes}, // [N * *]
//	)
//	visits, err := j.Row(7)                        // of one patient: day [L], codes [L *]
//	batch, err := joint.Collate(rows, opt)         // a dictionary, padded: [B L], [B L M]
//
// Selecting a row or a range of rows takes constant time, and [Collate] pads a list of rows, or of
// parts of rows, in one pass. [FromDict] and [Joint.Dict] convert from dictionaries and to them.
// Package nrt reads and writes files of collections, and makes them of nested lists.
//
// # Implementation
//
// A [Joint] is a collection and a spot in it: a level, and a row or a range of rows there. Fields
// are made on demand. Padding follows the offsets of the collection from the spots on, so that no
// part is copied before. Package ragged has the operations, and computes each layout that several
// fields share once.
package joint
