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
// dense tensors (ragged.Tensor, [Data], [Unbatched], [Stacked]). The shape of every value begins
// with the batch shape of the dictionary.
//
//	step, err := tdict.FromValues(nil, tdict.Values{"reward": 0.5, "done": true}) // one sample
//	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0)
//	last, err := tdict.Item[float32](batch, "reward", -1)
//
// Operations on shape see the batch shape only. The dims after it, the features, stay as they are.
// shapeops.Stack, Cat and PadSequence join several dictionaries; Split, SplitBy, SplitAt,
// TensorSplit, Chunk and Unbind cut one into parts. Package arith has the operations on elements,
// such as Where and MaskedFill. Batch dims can have names ([TensorDict.SetNames]), which operations
// carry to their results.
//
// # Keys
//
// Package nestedkey defines the spelling of keys: "obs/pixels" is the entry pixels of the
// dictionary obs. Entries are in the order in which they were set. Set nests dictionaries at most
// 256 deep below the dictionary that it is called on. Set on an inner dictionary can nest
// dictionaries deeper than 256 below the outermost one. Iterators still visit all entries of the
// outermost dictionary, but Index and Stack return [ErrDepth], and memmap.Save returns
// memmap.ErrName.
//
// # Kinds of value
//
//   - A *tensor.Tensor is shared by Set. Operations return views of it or copies, as package
//     tensor says.
//   - A *TensorDict is shared by Set too. Each operation applies to it as to the outer
//     dictionary.
//   - A *ragged.Tensor has rows that differ in length. Operations on the batch move whole rows.
//     If ragged leaves share a layout in every operand, they share a layout in the result; if
//     they share some levels of their layouts, they share these levels in the result.
//     [TensorDict.Apply] and package arith work on the values of all rows. [StackRagged] makes
//     ragged tensors from dictionaries of different lengths.
//   - [Data] holds strings, numbers, lists and objects: one value for all rows, or one for each.
//   - An [Unbatched] tensor belongs to all rows alike. Operations return it unchanged.
//   - A [Stacked] value keeps one leaf for each position of a dim, and these leaves may differ in
//     dtype and shape. [LazyStack] makes it.
//
// A [Schema] lists the entries that a dictionary has, and says which ragged leaves are text.
// [Schema.Check] compares a dictionary with it. A dictionary can have the name of a Python class
// ([TensorDict.SetClass]), which operations carry to their results.
//
// # Types and functions
//
//   - A [Value] is the value of an entry; a [Leaf] is one that is not a dictionary. [Get], [Slice]
//     and [Item] return values and elements with their Go types. A [Dictionary] is a TensorDict or
//     a dataset that holds one; [Of] returns it.
//   - [New], [FromMap], [FromValues] with [Values] make dictionaries. [Merge] joins the entries of
//     several, and [SplitKeys] divides the entries of one.
//   - [NewData] makes [Data] of one value, and [DataFrom] of a value for each row; an [Object] of
//     [Field]s, which [NewObject] makes, is a JSON object with its order. [NewUnbatched] makes an
//     Unbatched.
//   - [LazyStack], [MaybeDense] and [Stacked] keep dictionaries of different shapes; [StackDim] and
//     [Members] take them apart. [Unpad] and [StackRagged], [UnstackRagged] change between padded,
//     ragged and separate rows; [ToJoint] and [FromJoint] between ragged leaves and a joint tree.
//   - A [Schema] has a [Spec] of a [Kind] for each entry, and [SchemaOf] makes it; a size may be
//     [Any], and a time has one of [TimeUnits].
//   - Each [Difference] of two dictionaries has a [DifferenceKind].
//
// # Functions over leaves and rows
//
//   - [Apply] and [TensorDict.Apply] call a [LeafFunc] with each tensor, and return a dictionary of
//     the results or write them in place. [MapElems] calls a function with each element.
//   - [MapChunks], [IterChunks] and [Vmap] call a [ChunkFunc] with chunks of rows, or with each
//     row, on several goroutines. The results are in order.
//   - [TensorDict.Tree] returns the tensors as a list, and [Tree.Build] makes the dictionary with
//     other tensors.
//
// If a function panics, the operation returns a [PanicError].
//
// # Memory
//
// Index without lists and masks, Permute, Expand and other operations on shape return dictionaries
// whose tensors are views: writing to a view writes to the original. Index with lists or masks,
// Take, Gather, Window, Flip, Roll, Repeat, Pad, Clone, Stack and Cat copy. Methods and functions
// whose name ends in Into copy to a dictionary that the caller owns; [TensorDict.NewZeros] makes
// one, for all kinds of value. The dictionaries of a result are new at every depth: setting or
// deleting an entry of the result never changes an operand.
//
// The tensors of one result are allocated together: their headers in one block, and the elements of
// copies of up to 64 KiB in blocks of at most 1 MiB. While any tensor of a result is reachable,
// these blocks stay in memory, and so does the memory that the other tensors of the result are
// views of. To keep a single tensor only, Clone it.
//
// # Text
//
// json.Marshal writes a dictionary with every element, and json.Unmarshal reads it into the zero
// TensorDict ([TensorDict.MarshalJSON], [TensorDict.UnmarshalJSON]). [TensorDict.Preview] is JSON
// of bounded size. Printing with %v shows keys, shapes and dtypes on one screen, %+v shows all of
// them, and [TensorDict.Head] the first rows. [TensorDict.Diffs] lists the differences between two
// dictionaries, and package tdictcmp has options for cmp.Diff.
//
// # Errors
//
// An operation that returns an error has changed nothing, with two exceptions: [MapChunks] with
// MapChunksOptions.Into, and memory that cannot be read in the middle of a copy (see
// tensor.Transfer).
//
// An error about an entry is a [KeyError] with the key. An error of [MapChunks], [IterChunks] or
// [Vmap] about certain rows, such as an error of the function that was called with them, is a
// [RowsError] with the rows. errors.Is finds the reason: [ErrMissing], [ErrExists], [ErrNotDict],
// [ErrLocked], [ErrCycle], [ErrDepth], [ErrDiffers], [ErrName], [ErrKind], [ErrSchema], or an error
// of packages nestedkey, shapeops, tensor and ragged. An argument that is a nil or zero dictionary,
// tensor, value or function is ErrKind; a method of a nil pointer may panic.
//
// # Concurrency
//
// A dictionary is safe for concurrent readers; a writer needs exclusive access, as with a map. No
// entry of a dictionary that is locked with [TensorDict.Lock] can be set, deleted or renamed.
//
// This package opens no files: package memmap saves and opens dictionaries.
package tdict
