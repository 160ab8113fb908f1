// Package jsonl reads tables of JSON lines, an object on each line, as dictionaries, chunk by
// chunk, and writes them.
//
//	schema, err := jsonl.Infer(file, 1000) // from the first 1000 rows
//	file.Seek(0, io.SeekStart)
//	for td, err := range jsonl.Read(ctx, file, schema, jsonl.ReadOptions{Rows: 4096}) {
//		if err != nil {
//			return err
//		}
//		use(td) // [4096], valid until the next chunk
//	}
//	err = jsonl.Write(ctx, w, schema, chunks, jsonl.WriteOptions{})
//
// memmap.SaveRows saves the chunks that [Read] yields as a dataset, in the memory of a few chunks.
// A tdict.Schema lists the fields: check and correct the schema that [Infer] proposes. Package csv
// has the same functions for tables with a delimiter.
//
// # Values
//
// An object is a dictionary: a field "x" of an object in the field "obs" is the entry "obs/x". The
// schema determines how other values are read:
//
//   - A tensor is a number or a bool, or nested lists with exactly the sizes of its Shape.
//   - A ragged tensor is Depth nested levels of lists of any length, and in them nested lists
//     with the sizes of Shape.
//   - Text is a string, or lists of strings. All escapes are read; half of a surrogate pair, and
//     bytes that are not UTF-8, are errors.
//   - Integers are exact, and written with digits only: 1.0 and 1e3 are errors in an integer
//     entry, and so are numbers out of range.
//   - Floats are numbers in any notation, rounded to the nearest. Numbers out of range are
//     errors. NaN and infinities are written as the strings "NaN", "+Inf" and "-Inf", so that
//     each line is valid JSON. [Read] also accepts the strings "Infinity" and "-Infinity", and
//     the words NaN, Infinity and -Infinity, which Python's json.dumps writes.
//   - Complex numbers are strings such as "(1+2i)". Read accepts numbers too.
//   - Bools are true and false.
//
// Values that [Write] wrote read back equal with the same schema, except for the payload of a NaN
// and for elements that a mask hides. Without it, [Infer] finds int64, uint64 and float64, bools
// and texts as they were: a float is written with a point or an exponent.
//
// ReadOptions.Times lists the int64 entries that are strings of dates or times.
// ReadOptions.Categories lists the text entries that are read as int32 codes. A code is the same in
// all chunks and files that use the same ragged.TextCodes. Its method Texts returns the list of
// texts. The chunks do not contain the list, because it grows: after reading all rows, store it as
// Data, tdict.NewData(codes.Texts()).
//
// # Missing values
//
// A value is missing if it is null, if its object has no such field, or if its object is missing.
// That is an error unless the entry is Optional or in ReadOptions.Fill. An Optional entry has a
// mask: a bool for each element or text, or for each row of a ragged tensor, false where the value
// is missing. The key of the mask is the key of the entry followed by "_mask"; if another entry has
// that key, the error is tdict.ErrSchema. A missing value reads as ReadOptions.Fill if that has the
// key, and otherwise as zero, an empty text or list, or the code of the empty text. An element of a
// ragged list cannot be missing. [ChunkSchema] also lists the masks and codes. Package arith counts
// these zeros unless it is given the mask: arith.Whole.Where(mask). Save the chunks with
// ChunkSchema as memmap.SaveOptions.Schema, so that the dataset says which entries are masks.
//
// # Fields
//
// A field that is not in the schema is an error, [ErrField]. With ReadOptions.SkipUnknown it is
// skipped: its JSON is checked, but duplicates in it are not. Other duplicate fields are an error.
//
// # Lines
//
// Lines end with LF or CRLF; the last one need not. Lines of white space are skipped, and so is a
// byte order mark. An object is on one line.
//
// # Errors
//
// An error in a file is a [*ParseError], with line and key. A line longer than
// ReadOptions.MaxRecord is [ErrTooLong], and a line nested deeper than MaxDepth is [ErrSyntax]. So
// reading takes memory only for a few chunks and lines.
package jsonl
