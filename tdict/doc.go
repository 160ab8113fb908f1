// Package tdict has the TensorDict: a dictionary of named tensors that share their first dims, the
// batch shape. Indexing, stacking or splitting the dictionary does the same to each tensor at once.
//
//	td := tdict.New(128)                         // batch shape [128]
//	err := td.Set("obs/pixels", pixels)          // pixels: uint8 [128 84 84]; "obs" is created
//	tail, err := td.Index(ix.Range(-8, ix.End))  // batch shape [8], shares memory
//	batch, err := td.Index(ix.Take(rows...))     // a copy of these rows of every leaf
//	reward, err := tdict.Slice[float32](batch, "reward")
//
// A [TensorDict] maps nested keys to values: tensors, further dictionaries, and values that are not
// dense tensors (ragged.Tensor, [Data], [Unbatched]). Every value's shape begins with the
// dictionary's batch shape.
//
//	step, err := tdict.FromValues(nil, tdict.Values{"reward": 0.5, "done": true}) // one sample
//	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0)
//	last, err := tdict.Item[float32](batch, "reward", -1)
//
// Operations on shape see the batch shape only; the dims after it, the features, are never touched.
// Several dictionaries are put together and cut apart by shapeops.Stack, Cat, PadSequence, Split,
// SplitBy, SplitAt, TensorSplit, Chunk and Unbind; package arith has the operations that look at
// elements, such as Where and MaskedFill. Batch dims can have names ([TensorDict.SetNames]), which
// operations carry.
//
// # Keys
//
// Keys are spelled as package nestedkey says: "obs/pixels" is pixels within obs. Entries have an
// order: that in which they were set. Set nests dictionaries at most 256 deep below the one that it
// is called on. What was made deeper by way of inner dictionaries can be walked, but Index, Stack
// and Save return an error.
//
// # Kinds of value
//
//   - A *ragged.Tensor has rows that differ in length. What is done to the batch moves its rows
//     whole; leaves that share a layout, or have one within that of another, still do in the
//     result, as far as the operands did. What looks at elements, [TensorDict.Apply] and package
//     arith, looks at the values. [StackRagged] makes them of dictionaries of unequal lengths.
//   - A *tensor.Tensor is shared by Set; operations return views of it or copies, as package tensor
//     says.
//   - A *TensorDict is shared by Set too, and goes through each operation as the outer one does.
//   - [Data] holds strings, numbers, lists and objects, one for all rows or one for each.
//   - An [Unbatched] tensor belongs to all rows alike; operations pass it through.
//
// A [Schema] says which entries a dictionary has, and which ragged leaves are text.
// [TensorDict.Enforce] makes it hold: what would break it is refused. A dictionary can have the name
// of a Python class ([TensorDict.SetClass]), which operations carry.
//
// # Functions over leaves and rows
//
//   - [Apply] and [TensorDict.Apply] make a dictionary of what a function makes of each tensor, or
//     write that in place, and [MapElems] of each element; [ApplyEntries] of each entry,
//     and [Fold] makes one value of all.
//   - [Map], [MapIter] and [Vmap] call a function with chunks of rows, or with each row, on several
//     goroutines; results come in order.
//   - [TensorDict.Tree] hands out the tensors as a list, and takes back others.
//
// A function's panic is an error, a [PanicError].
//
// # Memory
//
// Index without lists and masks, Permute, Expand and the like return dictionaries whose tensors are
// views: writing through one writes the other. Index with lists or masks, Take, Gather, Window,
// Flip, Roll, Repeat, Pad, Clone, Stack and Cat copy; methods and functions called Into copy to a
// dictionary that the caller owns, which [TensorDict.NewZeros] makes, whatever kinds of value it
// holds. The dictionaries themselves are new: setting or deleting an entry of a result, at any
// depth, never changes what it was made from.
//
// The tensors of one result lie side by side: their headers in one block, and the elements of
// copies up to 64 KiB in blocks of at most 1 MiB. Keeping one tensor of a result keeps these
// blocks, and what the others are views of; a Clone of the tensor keeps nothing else.
//
// # Text
//
// json.Marshal writes a dictionary with every element, and json.Unmarshal reads it into the zero
// TensorDict ([TensorDict.MarshalJSON], [TensorDict.UnmarshalJSON]); [TensorDict.Preview] is a
// bounded form. Printing shows keys, shapes and dtypes on one screen, %+v all of them, and
// [TensorDict.Head] the first rows. [TensorDict.Diffs] lists how two dictionaries differ, and
// package tdictcmp has options for cmp.Diff.
//
// # Errors
//
// An operation that returns an error has changed nothing; the exceptions are [Map] with an Into,
// and memory that turns out to be unreadable in the middle of a copy, see tensor.Transfer. An error
// about an entry is a [KeyError] that says which key, one about rows that a function was called
// with a [RowsError] that says which rows. errors.Is finds the reason: [ErrMissing], [ErrExists],
// [ErrNotDict], [ErrLocked], [ErrCycle], [ErrDepth], [ErrDiffers], [ErrName], [ErrKind],
// [ErrSchema], or what packages nestedkey, shapeops and tensor return. A nil dictionary, tensor, value or function as an
// argument is ErrKind.
//
// # Concurrency
//
// As with a map: any number of readers, or one writer. A dictionary that is locked with
// [TensorDict.Lock] keeps its structure, so that readers need not fear writers of keys.
//
// Files are the business of package memmap; this package opens none.
package tdict
