// Package ragged holds tensors whose inner lengths vary: patients with visits, visits with codes,
// codes with values.
//
//	codes, err := ragged.From[int64]([][][]int64{ // of each visit, of each patient: [3 * *]
//		{{}, {3, 0}}, {{3, 4, 5}}, {{}, {}, {2}},
//	})
//	perVisit, err := codes.Reduce(-1, arith.Sum)           // [3 *]
//	last, err := codes.IndexLevel(1, ix.Range(-2, ix.End)) // the last two visits of each patient
//	batch, err := codes.Densify(ragged.DensifyOptions{})   // [3 3 3], padded with 0
//
// These are the nouns:
//
//   - A [Layout] says how rows are cut into rows, level by level, by offsets. It never changes, and
//     many tensors can share it.
//   - A [Tensor] is values, one after the other, and a layout: [B... * * F...]. B are dims of a
//     batch of any rank, each star is a level, F are the dims of one value.
//   - A [Joint] is tensors under names, at several depths, that share the layouts of a tree: a
//     whole dataset of patients. Going to a row or a range of rows of it takes constant time.
//   - A [Dense] is what comes of a Joint when rows are padded for a network; [Collate] makes one of
//     rows, or parts of rows, in one pass.
//
// # Levels
//
// Level 0 is the batch, level 1 the rows of its rows, and the last level, the depth, that of
// values. Methods count levels from 1, negative ones from the last. An operation on the batch
// (Index, TakeRows, and what shapeops has: Stack, Cat, Split, Unbind) keeps rows whole; one on a
// level (IndexLevel, WindowLevel, FlattenLevel, MaskedSelect, Pick, Sort, Reduce, ConcatLevel) goes
// into rows.
//
// What looks at values is in package arith: its elementwise verbs work on ragged tensors as on
// dense ones, and its reductions are what [Tensor.Reduce] takes.
//
// # Memory
//
// Index without lists and masks, Row, Range, Path, FlattenLevel, UnflattenLevel, Group,
// SqueezeLevel and UnsqueezeLevel share values and rewrite no value; the rest copies. What several
// tensors share of a layout, an operation on all of them works out once, and what comes of it is
// shared again.
//
// # Concurrency
//
// Layouts and Joints never change. A Tensor is safe for concurrent readers; a writer needs
// exclusive access, as with a map.
package ragged
