// Package jsonl reads tables of JSON lines, an object on each line, as dictionaries, chunk by
// chunk, and writes them.
//
//	schema, err := jsonl.Infer(file, 1000) // look at it, correct it
//	file.Seek(0, io.SeekStart)
//	for td, err := range jsonl.Read(ctx, file, schema, jsonl.ReadOptions{Rows: 4096}) {
//		if err != nil {
//			return err
//		}
//		use(td) // [4096], valid until the next chunk
//	}
//	err = jsonl.Write(ctx, w, schema, chunks, jsonl.WriteOptions{})
//
// memmap.SaveRows makes a dataset of what [Read] yields, in memory that is bounded by a few chunks.
//
// # Values
//
// An object is a dictionary: a field "x" of an object in the field "obs" is the entry "obs/x". The
// schema says what the other values are:
//
//   - A tensor is a number or a bool, or lists of exactly the sizes of its Shape.
//   - A ragged tensor is Depth lists of any length, one in the other, and in these lists of the
//     sizes of Shape.
//   - Text is a string, or lists of strings. All escapes are read; half of a surrogate pair, and
//     bytes that are not UTF-8, are errors.
//   - Integers are exact, and spelled with digits only: 1.0 and 1e3 are errors in an integer entry,
//     and so is what is out of range.
//   - Floats are numbers in any spelling, rounded to the nearest. Numbers beyond the largest are
//     errors. What JSON has no number for is one of the strings "NaN", "+Inf" and "-Inf", so that
//     each line is JSON for every reader. [Read] also takes the strings "Infinity" and "-Infinity",
//     and the words NaN, Infinity and -Infinity, which Python's json.dumps writes.
//   - Complex numbers are strings such as "(1+2i)". Read takes numbers too.
//   - Bools are true and false.
//
// What [Write] wrote reads back equal, but for the payload of a NaN, and what is where a value is
// missing.
//
// ReadOptions.Times has entries that are strings of dates or times, which are int64.
// ReadOptions.Categories makes texts int32 codes: they are stable over all chunks, and files, that
// use the same ragged.TextCodes. Its Texts, when all is read, are the list, to be kept as Data by
// tdict.NewData(codes.Texts()); the chunks do not have it, since it grows from one to the next.
//
// # Missing values
//
// A value is missing if it is null, or its object lacks the field or is itself null or lacking.
// That is an error unless the entry is Optional or in ReadOptions.Fill. An Optional entry has a
// mask beside it, a bool for each element or text, and for each row of a ragged tensor, that is
// false where it is missing. Its key is that of the entry with "_mask" after it, which no other
// entry may have: tdict.ErrSchema. A missing value itself is zero, an empty text or its code, an
// empty list, or what Fill says. In a list of a ragged tensor nothing can be missing.
//
// # Fields
//
// A field that the schema lacks is an error, [ErrField], or skipped with ReadOptions.SkipUnknown:
// its JSON is checked, but not whether it or a field in it comes twice. Other fields that come
// twice are an error.
//
// # Lines
//
// Lines end with LF or CRLF; the last one may lack it. Lines of white space are skipped, and so is
// a byte order mark. An object is on one line.
//
// # Errors
//
// An error in a file is a [*ParseError], with line and key. A long line is an error too,
// [ErrTooLong], and so is one that nests too deep, so that a file takes no more memory than
// ReadOptions.MaxRecord, MaxDepth and a chunk allow.
package jsonl
