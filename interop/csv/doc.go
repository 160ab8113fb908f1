// Package csv reads tables of comma-separated values as dictionaries, chunk by chunk, and writes
// them.
//
//	schema, err := csv.Infer(file, 1000, csv.Format{}) // look at it, correct it
//	_, err = file.Seek(0, io.SeekStart)
//	rows := csv.Read(ctx, file, schema, csv.ReadOptions{Rows: 4096})
//	err = memmap.SaveRows(ctx, "visits", rows, memmap.SaveOptions{})
//
//	err = csv.Write(ctx, os.Stdout, schema, chunks, csv.Format{})
//
// [Read] yields chunks of rows, [Write] takes them. A tdict.Schema says what the rows are. Package
// jsonl has the same functions for lines of JSON.
//
// # Files
//
// A file is text as RFC 4180 and package encoding/csv have it: a record ends with its line, or with
// the file; a field in quotes may hold line ends, delimiters, and quotes, which are written twice.
// Lines end with LF or CRLF, not with CR alone. Empty lines and a byte order mark are skipped.
// There is one difference: CRLF in a quoted field stays, where encoding/csv makes it LF. [Format]
// has the delimiter and other ways in which files differ.
//
// # Headers and keys
//
// The header of an entry is its key; Format.Separator stands for the "/" of nested keys. An entry
// with features has a column for each element: one of Shape [2] under the key "x" has the headers
// x.0 and x.1, in this order. [Read] refuses columns that the schema lacks, unless told to skip
// them, and a file that lacks a column, unless the entry is Optional.
//
// # Values
//
// Entries are tensors of any dtype, and texts, whose bytes are kept also where they are not UTF-8.
// Numbers are exact or an error, [ErrValue]: an integer column takes no fraction, and nothing out
// of range. Floats are rounded to the nearest. Numbers and bools are spelled as package strconv
// parses them, integers in base 10, without blanks. NaN, +Inf and -Inf are written so, complex
// numbers as "(1+2i)". What [Write] wrote reads back equal, but for the payload of a NaN.
//
// Format.Times has columns of dates or times, which are int64. Format.Categories makes texts int32
// codes: they are stable over all chunks, and files, that use the same ragged.TextCodes. Its Texts,
// when all is read, are the list, to be kept as Data by tdict.NewData(codes.Texts()); the chunks do
// not have it, since it grows from one to the next.
//
// # Missing values
//
// A field that is one of Format.NA is missing, if its entry is Optional or in Format.Fill; else it
// is what it says. In a column of texts only a field without quotes can be missing: "" is an empty
// text. An Optional entry has a mask beside it, a bool for each value that is false where it is
// missing. Its key is that of the entry with "_mask" after it, which no other entry may have:
// tdict.ErrSchema. A missing value itself is zero, an empty text or its code, or what Fill says.
//
// # Errors
//
// An error in a file is a [*ParseError], with line, column and key. A long record is an error too,
// [ErrTooLong], so that a file takes no more memory than ReadOptions.MaxRecord and a chunk allow.
package csv
