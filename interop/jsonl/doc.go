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
// An object is a dictionary: a field "x" of an object in the field "obs" is the entry "obs/x". Each
// name is one part of a key, and may be any text. Where Spec.Columns has one name, that is the name
// of the field. The schema determines how other values are read:
//
//   - A tensor is a number or a bool, or nested lists with exactly the sizes of its Shape.
//   - A ragged tensor is Depth nested levels of lists of any length, and in them nested lists
//     with the sizes of Shape.
//   - Text is a string, or lists of strings: Depth levels of any length, or the sizes of Shape. All
//     escapes are read; half of a surrogate pair, and bytes that are not UTF-8, are errors.
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
// and for elements that a mask hides. Without the schema, [Infer] restores int64, uint64 and
// float64, bools and texts: a float is written with a point or an exponent.
//
// Entries with Spec.Time are strings of dates or times, and entries with Spec.Categories are
// strings of these texts, also in lists. [Inferrer.Hints] names such fields; dates of ISO 8601 are
// found without a hint.
//
// # Lists of objects
//
// A KindDict with Depth 1 is a list of objects in each row. Its entries are ragged columns with at
// least that Depth, one for each field, and share one ragged.Layout:
//
//	{"codes":[{"name":"a","day":3},{"name":"b","day":4}]}
//
//	codes       dictionary  Depth 1
//	codes/name  text        Depth 1   [n * *]
//	codes/day   ragged      Depth 1   [n *] int64
//
// A list of objects in these objects has Depth 2, as have lists of lists of objects. An object in
// them has no further level: "codes/pos/x" has Depth 1.
//
// # Missing values
//
// A value is missing if it is null, if its object has no such field, or if its object is missing.
// That is an error unless the entry has a mask at that depth, or is in ReadOptions.Fill. A mask has
// a bool for each value, false where the value is missing:
//
//   - Spec.Mask is the key of the mask. An Optional entry without one gets its key followed by
//     "_mask", or by "_mask2" and so on if an entry has that key.
//   - For a tensor or text without Depth it has a bool for each element or text.
//   - For other entries the schema says its Depth, if it lists the mask: 0, a tensor, has a bool
//     for each row. Depth d has a bool for each list, value or object inside d lists.
//   - If the schema does not list the mask, it has the Depth of the dictionary around the entry: it
//     has a bool for each row or, in a list of objects, for each object.
//   - A mask may have a Mask with fewer levels: [1,null], [] and null in three rows need both.
//
// A missing value is read as its value in ReadOptions.Fill. If that has none for the key, it is
// read as zero, an empty text or list, or the code of the empty text. [ChunkSchema] also lists the
// masks and codes. Save the chunks with it as memmap.SaveOptions.Schema, so that the dataset says
// which entries are masks.
//
// [Write] writes null for a missing value, also if the object had no such field.
//
// # Fields
//
// A field that is not in the schema is an error, [ErrField]. With ReadOptions.SkipUnknown it is
// skipped: its JSON is checked, but duplicates in it are not. Other duplicate fields are an error.
//
// # Lines
//
// Lines end with LF or CRLF; the last line may lack its end. Lines of white space are skipped, and
// so is a byte order mark. An object is on one line, with two exceptions. A file that begins with
// "[" is an array of objects. If the first object does not end on its line, each object may have
// several lines. Rows and lines of errors are as for lines; [Write] writes lines.
//
// A file may be compressed by gzip or zstd, under any name, or be UTF-16 with a byte order mark.
//
// # Errors
//
// An error in a file is a [*ParseError], with line and key. A line longer than
// ReadOptions.MaxRecord is [ErrTooLong], and a line nested deeper than MaxDepth is [ErrSyntax]. So
// reading takes memory only for a few chunks and lines.
package jsonl
