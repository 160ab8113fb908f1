// Package shapeops has operations on shape, such as Stack, Split and Flip. Each is one function for
// tensors, ragged tensors and dictionaries alike.
//
//	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0) // [2 B...]
//	all, err := shapeops.Cat([]*tensor.Tensor{x, y}, 0)       // [N+M F...]
//	parts, err := shapeops.Split(td, 0, 1, 3)                 // two dictionaries, of 1 and 3 rows
//	flipped, err := shapeops.Flip(td, 0)                      // a copy
//	err = shapeops.FlipInto(dst, td, 0)                       // into memory that the caller owns
//
// They work on any type that has the methods that they ask for:
//
//   - [Stack], [Cat] and [PadSequence] lay values side by side.
//   - [Split], [SplitBy], [SplitAt], [TensorSplit], [Chunk] and [Unbind] cut a value:
//     Split(td, 0, 1, 3) is a []*TensorDict.
//   - [Flip], [Roll], [Rot90], [Repeat], [Tile], [RepeatInterleave], [RepeatEach], [Unfold],
//     [Window] and [AtLeast] rearrange one value, or repeat or cut out parts of it; [SetWindow]
//     writes windows.
//
// A form with Into in its name fills a value that the caller owns. The common operations (Index,
// Reshape, Permute) are methods of the values. [Shape], [View] and their errors are those of
// package shape; package ix below this one spells index expressions.
//
// # Notation
//
// Shapes are written outermost dim first: [B... T F] is a batch shape B..., then T, then F.
// Capitals are sizes, "->" reads "gives": Unsqueeze(0) does [B...] -> [1 B...]. A negative dim
// counts from the last, -1.
//
// # Rules
//
// They are torch's. In an index expression positions, ranges and new dims apply first. Lists and
// masks are then broadcast together; their dims stand where the first of them stood if they were
// neighbours and come first if a dim (a new one counts) separated them. A single position is not a
// list, unlike in NumPy. After a mask over several dims, dims must be kept whole.
//
// # Concurrency
//
// Functions here are as safe as reading the values they are given.
package shapeops
