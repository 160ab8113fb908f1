package tdarrow

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/columns"
	"github.com/go-tensordict/tensordict/tdict"
)

// Options say how columns become entries, and which are read. The zero Options are valid. The
// fields are:
//
//	Schema    tdict.Schema      // of the chunks; nil: InferFile's, or for a stream see Read
//	Keys      []nestedkey.Key   // entries to read, with all below them and their masks; nil: all
//	Groups    []int             // numbers of batches to read, from 0; nil: all
//	Rows      int               // the most rows of a chunk; 0: the rows of a batch
//	MaxMemory int64             // the most bytes of a batch in memory; 0: 1 GiB
//	Skip      bool              // leave out columns that no dtype holds, such as decimals
//	Note      func(text string) // called with surprises, such as a column that is left out
//
// A corrected Schema has the masks, or says Optional: then an entry gets one. An entry is read as
// its type in the file: Categories, a fixed Shape for lists, and text for bytes can be changed, a
// dtype cannot. Its column has the last part of the key as its name, or the name in Columns.
type Options = columns.Options

// Errors about columns, in a [*tdict.KeyError] with the key.
var (
	// ErrType says that a type of Arrow has no dtype, or a dtype no type of Arrow.
	ErrType = columns.ErrType
	// ErrArray says that the memory of an array is not as its type, length and offset need it.
	ErrArray = columns.ErrArray
	// ErrNull says that a value is missing in an entry that has no mask for it.
	ErrNull = columns.ErrNull
	// ErrMemory says that a batch would take more memory than Options.MaxMemory.
	ErrMemory = columns.ErrMemory
)

// FromDict returns the rows of a dictionary [n B...] as a record batch of n rows. A nil schema is
// the schema of a dataset, or otherwise tdict.SchemaOf(td); package documentation lists the types.
// Dims B of the batch shape count as dims of the entries. The schema is kept in the metadata of the
// batch, and [ToDict] reads it.
//
// The batch shares the memory of tensors that are contiguous and in Go memory; bools, days and
// mapped tensors are copied. So a dataset may be closed, but a dictionary in memory must not be
// changed while the batch is in use. Release need not be called.
//
// FromDict returns, with the key, tdict.ErrKind for Data that is not text, an unbatched tensor and
// a stack, [ErrType] for bfloat16 and complex numbers, tdict.ErrSchema for a code without a text, a
// text that is not UTF-8 and a day that int32 does not hold, ragged.ErrLengths for entries of a
// list of objects that differ in length, and the errors of [tdict.Schema.Check] and
// [tdict.Schema.MaskOf]. It returns shapeops.ErrDim for an empty batch shape. Safe for
// concurrent readers of td.
func FromDict(td tdict.Dictionary, schema tdict.Schema) (arrow.RecordBatch, error) {
	return columns.FromDict(td, schema)
}

// ToDict returns the rows of a batch as a dictionary [n]. opt.Schema describes the entries; if it
// is nil, the metadata that FromDict wrote does. For other columns, an entry has a mask only if one
// of its values is null, and texts in dictionaries become categories. ToDict uses Schema, Keys,
// Skip, Note and MaxMemory of opt.
//
// Tensors of numbers without nulls share the memory of the batch, and are read-only. They keep it
// alive: the batch may be released, and its memory is released when no tensor uses it any longer,
// on a goroutine of the garbage collector, or never after [tensor.Of]. Other entries are copies.
//
// ToDict trusts no array: it does not panic on a hand-made one, and allocates at most opt.MaxMemory
// bytes. It returns, with the key, [ErrType] for a type that no entry can have, unless opt.Skip is
// set; [ErrArray], ragged.ErrOffsets, ragged.ErrLengths or shapeops.ErrIndex for an array whose
// memory, offsets, lengths or indices are bad; [ErrNull], [ErrMemory]; and tdict.ErrSchema or
// tdict.ErrMissing for a column that does not fit opt.Schema or does not exist. Safe for concurrent
// use.
func ToDict(rec arrow.RecordBatch, opt Options) (*tdict.TensorDict, error) {
	return columns.ToDict(rec, opt)
}

// SchemaOf returns the schema of the dictionary that [ToDict] makes of a batch: which entries are
// masks, units and layouts of times, categories. It returns the errors of ToDict.
func SchemaOf(rec arrow.RecordBatch, opt Options) (tdict.Schema, error) {
	return columns.SchemaOf(rec, opt)
}
