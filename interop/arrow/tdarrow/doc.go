// Package tdarrow gives dictionaries to programs that speak Apache Arrow, and reads and writes
// Arrow's IPC files and streams, which are also Feather files of version 2.
//
//	rec, err := tdarrow.FromDict(td, schema) // an arrow.RecordBatch that shares memory with td
//	rec, err = tdarrow.FromDict(ds, nil)     // of a *memmap.Dataset, with its schema
//	td, err := tdarrow.ToDict(rec, tdarrow.Options{})
//	schema, err := tdarrow.SchemaOf(rec, tdarrow.Options{})
//
// The schema says which entries are masks, text, times and categories. Without it masks are columns
// of bools, text is lists of bytes, and no value is null.
//
//	schema, err := tdarrow.InferFile("visits.arrow", tdarrow.Options{})
//	chunks := tdarrow.ReadFile(ctx, "visits.arrow", tdarrow.Options{Schema: schema})
//	err = memmap.SaveRows(ctx, "visits", chunks, memmap.SaveOptions{Schema: schema})
//
// Of one process to another, a stream:
//
//	err = tdarrow.Write(ctx, os.Stdout, schema, chunks, tdarrow.WriteOptions{Stream: true})
//	schema, chunks, err := tdarrow.Stream(ctx, os.Stdin, tdarrow.Options{})
//
// Write sends each chunk at once. Package tdparquet has the same functions for Parquet, and package
// arrowforms makes forms.Convert join several files.
//
// # Files
//
// [ReadFile] maps a file. A column that is not compressed goes from the mapping to a dataset with
// one copy, and an entry that is not selected is not read at all. Compressed columns, bools and
// lists of nullable values are converted in memory that the next batch uses again. [Write] keeps
// the schema in the metadata: masks, units, categories and descriptions come back as they were.
//
// # What a file may do
//
// Nothing in a file is trusted. Before the library sees a schema, and before memory is taken for a
// batch, each offset, length and count is checked; Options.MaxMemory bounds the size of
// decompressed bytes. A damaged file is an error with the batch and the column or the key, not a
// panic.
//
// All functions are safe for concurrent use. An iterator is not, and neither are its chunks while
// the loop runs.
//
// # Types
//
//	written as               read, too                     entry
//	int8 ... uint64, floats                                tensor [n] of that dtype
//	bool                                                   tensor [n] of bools
//	FixedSizeList, nested    fixed_shape_tensor            tensor [n F...]
//	                         fixed_size_binary(k)          tensor uint8 [n k]
//	LargeList, nested        List, list views              ragged [n * * F...]
//	LargeList of uint8       binary, its views             ragged uint8 [n *]
//	large_utf8               utf8, utf8_view               text [n *], [n F... *]; lists: [n * *]
//	struct                                                 dictionary
//	LargeList of struct      List of struct                dictionary with Depth: lists of objects
//	validity                                               Mask
//	date32                                                 int64 with Time, Unit d
//	                         date64                        int64 with Time, Unit ms
//	timestamp                                              int64 with Time; with a zone: UTC, Z
//	int64                    time32, time64, duration      int64 with a Unit
//	dictionary of texts                                    int32 with Categories, or Data of texts
//	                         dictionary of other values    the values
//	                         null                          text that is always missing
//
// The library has no FixedSizeList of size 0, so a dim of size 0 is written as a LargeList. A
// FixedSizeList around a list is a dim of the batch, or a level if a list is around it too.
// Decimals, intervals, maps, unions and run-end encoded arrays are [ErrType], as are bfloat16,
// complex numbers, and lists of structs inside a FixedSizeList that the schema does not describe.
//
// # Missing values
//
// A null is false in the mask of its entry, as [tdict.Schema.MaskOf] says, and its elements are
// zero or its list is empty. A null at another depth of lists has a mask with as many levels. A
// null struct is in the mask of the dictionary, and its fields count as missing. A null
// FixedSizeList is one whose elements are all missing. A column is nullable exactly if its entry
// has a Mask or is Optional.
//
// # Schemas
//
// Batches and files that this package writes have the [tdict.Schema] as JSON in their metadata,
// under "tensordict", so that units, masks and codes come back; a column that was changed since is
// read as if it were new. The metadata of Hugging Face datasets name categories (ClassLabel), and
// say the sizes of lists (Sequence with a length, Array2D to Array5D). Two columns of one name
// become two keys: "x" and "x2".
package tdarrow
