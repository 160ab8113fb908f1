// Package ragged has tensors whose rows differ in length, at one or several levels: patients with
// visits, visits with codes. Tensors that are cut into the same rows share the lengths.
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
// # Text
//
// Text is uint8 with one level, [B... *]: the bytes of each text are a row. [FromStrings] and
// [Strings] convert it, [TextBuilder] makes it row by row, and [Categories] returns an int32 code
// for each text and the distinct texts.
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
//
// # Implementation
//
// A [Layout] is a chain: each level holds its offsets and the Layout around it, and all tensors of
// one depth hold the same Layout.
//
// An operation on rows takes three steps:
//
//  1. It begins at one level with a moved (moved.go): a list of pieces, each a run of rows with a
//     source and a destination. It comes from one of four functions: executed, joinedAt, written
//     or edit.
//  2. below derives from it where the rows of the next level go, and so on, down to the values.
//  3. Transfer.Runs copies the values: arrive adds that to a transfer, arrived does it in new
//     memory.
//
// Each function keeps its result in the pass, under the identity of the Layout. So tensors that
// shared a Layout share the Layout of the result.
//
// Padding (densify.go) follows the same offsets to a grid: a list of runs in the dense result.
// Transfer.FillRuns writes the result in one pass.
package ragged
