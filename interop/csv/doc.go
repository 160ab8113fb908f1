// Package csv reads tables of comma-separated values as dictionaries, chunk by chunk, and writes
// them.
//
//	schema, err := csv.Infer(file, 1000, csv.Format{}) // from the first 1000 rows
//	_, err = file.Seek(0, io.SeekStart)
//	rows := csv.Read(ctx, file, schema, csv.ReadOptions{Rows: 4096})
//	err = memmap.SaveRows(ctx, "visits", rows, memmap.SaveOptions{})
//
//	err = csv.Write(ctx, os.Stdout, schema, chunks, csv.Format{})
//
// [Read] yields chunks of rows, [Write] writes them. A tdict.Schema lists the columns: check and
// correct the schema that [Infer] proposes. Package jsonl has the same functions for lines of JSON.
//
// # Files
//
// Files follow RFC 4180, as package encoding/csv reads them: a record ends with its line or with
// the file; a quoted field may contain line ends, delimiters, and doubled quotes. Lines end with
// LF, CRLF or CR. Empty lines and a byte order mark are skipped; Inferrer.Notes tells if there are
// empty lines between the rows of one column. Unlike encoding/csv, Read keeps CRLF in a quoted
// field. [Format] has the delimiter, comments, and other choices. A file that is compressed or
// UTF-16 is [ErrText].
//
// # Headers and keys
//
// The header of a column is its key, with Format.Separator for each "/". An entry with features has
// a column for each element: the entry "x" of Shape [2] has the columns x.0 and x.1, in this order.
// [Read] returns an error for a column that is not in the schema, unless ReadOptions.SkipUnknown is
// set, and for a file without a column of the schema, unless the entry is Optional.
//
// # Values
//
// Entries are tensors of any dtype, and texts. The bytes of a text need not be UTF-8. Package
// strconv parses numbers and bools, integers in base 10 and without blanks. An integer with a
// fraction or out of range is [ErrValue]. Floats are rounded to the nearest. [Write] writes NaN,
// +Inf, -Inf, and complex numbers as "(1+2i)". Written values read back equal with the same schema,
// except for the payload of a NaN. Without it, [Infer] finds int64 and uint64 columns, bools, texts
// and, since a float is written with a point or an exponent, float64 columns as they were. Columns
// of other dtypes become wider ones, complex numbers text, and texts that are all numbers or all
// true and false become numbers and bools: for these, keep the schema.
//
// Format.Times lists the int64 columns that hold dates or times. Format.Categories lists the text
// columns that are read as int32 codes. A code is the same in all chunks and files that use the
// same ragged.TextCodes. Its method Texts returns the list of texts. The chunks do not contain the
// list, because it grows: after reading all rows, store it as Data, tdict.NewData(codes.Texts()).
//
// # Missing values
//
// A field is missing if it is one of the spellings in Format.NA, and its entry is Optional or in
// Format.Fill. In a text column a quoted field is never missing: "" is an empty text, and [Write]
// quotes each text that is such a spelling. An Optional entry has a mask: a bool for each value,
// false where the value is missing. The key of the mask is the key of the entry followed by
// "_mask"; if another entry has that key, the error is tdict.ErrSchema. A missing value reads as
// Format.Fill if that has the key, and otherwise as zero, an empty text, or the code of the empty
// text. [ChunkSchema] also lists the masks and codes. Package arith counts these zeros unless it is
// given the mask: arith.Whole.Where(mask). Save the chunks with ChunkSchema as
// memmap.SaveOptions.Schema, so that the dataset says which entries are masks.
//
// # Errors
//
// An error in a file is a [*ParseError], with line, column and key. A record longer than
// ReadOptions.MaxRecord is [ErrTooLong]. So reading takes memory only for a few chunks and records.
package csv
