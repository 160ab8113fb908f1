// Package jsonl reads and writes tables that are JSON lines: a JSON object on each line.
//
//	schema, err := jsonl.Infer(file, 1000) // to be looked at, and corrected
//	_, err = file.Seek(0, io.SeekStart)
//	chunks := jsonl.Read(ctx, file, schema, jsonl.ReadOptions{Rows: 4096})
//	err = memmap.SaveRows(ctx, "visits", chunks, memmap.SaveOptions{})
//	err = jsonl.Write(ctx, os.Stdout, schema, chunks, jsonl.WriteOptions{})
//
// [Read] yields chunks of rows, [Write] takes them. A tdict.Schema says what the rows are. Package
// csv has the same functions for tables with a delimiter.
//
// # Values
//
// An object is a dictionary; a field of an object in it has a nested key, "obs/x". The rest is as
// the schema says:
//
//   - A tensor is a number, true or false, or lists of the sizes of its Shape, exactly.
//   - A ragged tensor is lists of any length, Depth of them, and below lists of the sizes of Shape.
//   - Text is a string, or lists of strings. All escapes are read; half of a surrogate pair is an
//     error, and so are bytes that are not UTF-8. NUL is a character like others.
//   - Integers are spelled with digits: 1.0 and 1e3 are errors in an integer entry, and so is what is
//     out of range. No integer goes through a float.
//   - Floats are numbers in any spelling, rounded to the nearest; what is beyond the largest is an
//     error. Numbers that JSON does not have are the strings "NaN", "+Inf" and "-Inf". Read also takes
//     "Infinity" and "-Infinity", and the words NaN, Infinity and -Infinity that Python writes.
//   - Complex numbers are strings such as "(1+2i)"; Read takes numbers, too.
//   - A bool is true or false, not a number.
//
// A value that is null, or a field that a row does not have, is missing. So is a dictionary that is
// null, with all that is in it. That is an error unless the entry is Optional, or
// [ReadOptions].Fill has its key. An Optional entry has a mask beside it, a bool tensor under the
// key with "_mask" after it, that is false where a value is missing: for each element of a tensor,
// each text, and each row of a ragged tensor, in which a list or an element cannot be null. The
// value there is zero, or empty. Write writes null where the mask is false.
//
// A field that the schema does not have is an error, or skipped with [ReadOptions].SkipUnknown. A
// field that a row has twice is an error, but in what is skipped.
//
// # Lines
//
// Lines end with a newline or with CRLF; the last one may lack it. Lines of white space are not
// rows. A byte order mark before the first line is skipped. An object cannot go over two lines.
//
// # Bad files
//
// Nothing in a file is trusted. A line has at most MaxLine bytes and is nested at most MaxDepth deep;
// memory is in proportion to the lines of a chunk, and to what the schema says that a row has. An
// [Error] says the line, the key, what was got and what was wanted. Rows before it are yielded.
package jsonl
