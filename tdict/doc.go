// Package tdict carries named tensors that share a leading batch shape.
//
// A [TensorDict] maps nested keys to values: tensors, or further dictionaries. Every value's shape begins with the
// dictionary's batch shape, so that indexing, stacking or splitting the dictionary does the same to each value at
// once.
//
//	td := tdict.New(128)                         // batch shape [128]
//	err := td.Set("obs/pixels", pixels)          // pixels: uint8 [128 84 84]; "obs" is created
//	tail, err := td.Index(ix.Range(-8, ix.End))  // batch shape [8], shares memory
//	batch, err := td.Index(ix.Take(rows...))     // a copy of these rows of every leaf
//	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0)
//
// Operations on shape see the batch shape only; the dims behind it, the features, are never touched. Several
// dictionaries are put together and cut apart by shapeops.Stack, Cat, Split, SplitBy, Chunk and Unbind.
//
// # Keys
//
// Keys are spelled as package nestedkey says: "obs/pixels" is pixels within obs. Entries have an order: that in which
// they were set.
//
// # Memory
//
// Index without lists and masks, Permute, Expand and the like return dictionaries whose leaves are views: writing
// through one writes the other. Index with lists or masks, Clone, Stack and Cat copy. The dictionaries themselves are
// new: setting or deleting an entry of a result, at any depth, never changes what it was made from.
//
// # Errors
//
// An operation that returns an error has changed nothing; the one exception is memory that turns out to be unreadable in the
// middle of a copy, see tensor.Transfer. An error about an entry is a [KeyError] that says which key. errors.Is finds the
// reason: [ErrMissing], [ErrExists], [ErrNotDict], [ErrLocked], [ErrCycle], [ErrKind], or what packages
// nestedkey, shapeops and tensor return. A nil *TensorDict or *tensor.Tensor as an argument is a mistake in the program and
// may panic, except as a [Value], where it is ErrKind.
//
// # Concurrency
//
// As with a map: any number of readers, or one writer. A dictionary that is locked with [TensorDict.Lock] keeps its
// structure, so that readers need not fear writers of keys.
//
// Files are the business of package memmap; this package opens none.
package tdict
