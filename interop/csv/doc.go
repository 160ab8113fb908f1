// Package csv reads tables of comma-separated values as dictionaries, chunk by chunk, and writes
// them.
//
//	schema, err := csv.Infer(file, 1000, csv.Format{}) // from the first 1000 rows
//	_, err = file.Seek(0, io.SeekStart)
//	rows := csv.Read(ctx, file, schema, csv.ReadOptions{Rows: 4096})
//	saved, err := csv.ChunkSchema(schema, csv.Format{}) // says which entries are masks
//	err = memmap.SaveRows(ctx, "visits", rows, memmap.SaveOptions{Schema: saved})
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
// LF, CRLF or CR. Empty lines and a byte order mark are skipped; [Inferrer.Notes] reports empty
// lines between the rows of one column. Unlike encoding/csv, Read keeps CRLF in a quoted field.
// [Format] has the delimiter, comments, and other choices. A file may be compressed by gzip or
// zstd, under any name, or be UTF-16 with a byte order mark.
//
// # Headers and keys
//
// The header of a column is its key, of one part: any text in UTF-8, also "", "km/h" or "device".
// With Format.Separator it is a nested key, whose parts the Separator divides. If another column
// has the key, it is followed by _2 or the next number that makes it free, and Spec.Columns has the
// header, which [Write] writes. Of equal headers [Read] takes the header whose key is the key of
// the entry, and the rest in the order of the schema.
//
// An entry with features has a column for each element: the entry "x" of Shape [2] has the columns
// x.0 and x.1, in this order. Read returns an error for a column that is not in the schema, unless
// ReadOptions.SkipUnknown is set, and for a file without a column of the schema, unless the entry
// is Optional.
//
// # Values
//
// Entries are tensors of any dtype, and texts. The bytes of a text need not be UTF-8. Package
// strconv parses numbers and bools, integers in base 10 and without blanks. An integer with a
// fraction or out of range is [ErrValue]. Floats are rounded to the nearest. [Write] writes NaN,
// +Inf, -Inf, and complex numbers as "(1+2i)". Written values read back equal with the same schema,
// except for the payload of a NaN. Without the schema, [Infer] restores int64 and uint64 columns,
// bools, dates of ISO 8601, texts and, since a float is written with a point or an exponent,
// float64 columns. Columns of other dtypes get a wider dtype. Complex numbers and categories become
// text. If all texts of a column are numbers, dates, or true and false, they become numbers, dates
// or bools. So keep the schema.
//
// An entry with Spec.Time has dates or times by this layout. If the layout has a zone, such as
// Z07:00, times are converted to UTC; a text without a zone is in UTC. All times are written in
// UTC. A text that is not a whole number of Spec.Unit, or does not fit an int64, is ErrValue, and
// so is a number whose text would read back as another one. An entry with Spec.Categories has these
// texts in the file, and their codes in the dictionary; another text, and a code without a text, is
// ErrValue. A quoted field is a category, and is not missing.
//
// # Missing values
//
// A field is missing if it is one of the spellings in Format.NA, and its entry is Optional or in
// Format.Fill. In a text column a quoted field is never missing: "" is an empty text, and [Write]
// quotes each text that is such a spelling. An Optional entry has a mask: a bool for each value,
// false where the value is missing. The key of the mask is Spec.Mask. If that is empty, it is the
// key of the entry followed by "_mask", or by "_mask2" and so on if another entry has that key. A
// missing value is read as its text in Format.Fill. If that has no text for the key, it is read as
// zero, which is the code of the first category, or an empty text. [ChunkSchema] also lists the
// masks. Save the chunks with it as memmap.SaveOptions.Schema, so that the dataset says which
// entries are masks.
//
// # Errors
//
// An error in a file is a [*ParseError], with line, column and key. A record longer than
// ReadOptions.MaxRecord is [ErrTooLong]. So reading takes memory only for a few chunks and records.
package csv
