// Package ragged implements tensors whose rows differ in length, at one or more levels: patients
// with visits, visits with codes. Tensors that are cut into the same rows share the lengths.
//
//	codes, err := ragged.From[int64]([][][]int64{ // of each visit, of each patient: [3 * *]
//		{{}, {3, 0}}, {{3, 4, 5}}, {{}, {}, {2}},
//	})
//	perVisit, err := codes.Reduce(-1, arith.Sum)           // [3 *]
//	last, err := codes.IndexLevel(1, ix.Range(-2, ix.End)) // the last two visits of each patient
//	batch, err := codes.Densify(ragged.DensifyOptions{})   // [3 3 3], padded with 0
//
// The types are:
//
//   - A [Layout] cuts rows into smaller rows, level by level, by offsets. It never changes, and
//     many tensors can share it.
//   - A [Tensor] is values, one after the other, and a layout: [B... * * F...]. B are the batch
//     dims, each star is a level, and F are the dims of one value.
//
// Package joint has collections of named tensors that share layouts.
//
// # Levels
//
// Level 0 is the batch, level 1 the rows inside its rows, and so on. The number of levels is the
// depth; the rows of the last level are the values. Methods number levels from 1; a negative level
// counts from the last. An operation on the batch (Index, TakeRows, and Stack, Cat, Split and
// Unbind of package shapeops) keeps rows whole. An operation on a level (IndexLevel, WindowLevel,
// FlattenLevel, MaskedSelect, Pick, Sort, Reduce, ConcatLevel) changes the rows at that level.
//
// Operations on values are in package arith: its elementwise functions work on ragged tensors as on
// dense ones, and [Tensor.Reduce] takes its reductions.
//
// # Text
//
// Text is uint8 with one level, [B... *]: the bytes of each text are a row. [FromStrings] and
// [Strings] convert it, [TextBuilder] builds it row by row, and [Categories] returns the distinct
// texts and an int32 code for each row.
//
// # Memory
//
// Index without lists and masks, Row, Range, Path, FlattenLevel, UnflattenLevel and Group share
// values and rewrite none; other operations copy. An operation on several tensors computes each
// layout that they share once, and its results share layouts too.
//
// # Concurrency
//
// Layouts never change. A Tensor is safe for concurrent readers; a writer needs exclusive access,
// as with a map.
//
// # Implementation
//
// A [Layout] is a chain: each level holds its offsets and the Layout of the levels above, and all
// tensors of one depth that share rows hold the same Layout.
//
// An operation on rows takes three steps:
//
//  1. It describes, at one level, how rows move, by a moved (moved.go): a list of pieces, each a
//     run of rows with a source and a destination. One of four functions returns it: executed,
//     joinedAt, written or edit.layout.
//  2. moved.below derives how the rows of the next level move, and so on, down to the values.
//  3. Transfer.Runs copies the values: addCopy adds the copies to a transfer, copied runs them in
//     new memory.
//
// Each function keeps its result in the pass, keyed by the identity of the Layout. So tensors that
// shared a Layout share the Layout of the result.
//
// Padding (densify.go) follows the same offsets to a grid: a list of runs in the dense result.
// Transfer.FillRuns writes the result in one pass. Package joint calls the methods of parts.go,
// which are not in the method set of Tensor.
package ragged
