// Package tdparquet reads and writes Parquet files.
//
//	schema, err := tdparquet.InferFile("visits.parquet", tdparquet.Options{})
//	chunks := tdparquet.ReadFile(ctx, "visits.parquet", tdparquet.Options{Schema: schema})
//	err = memmap.SaveRows(ctx, "visits", chunks, memmap.SaveOptions{Schema: schema})
//
//	err = tdparquet.Write(ctx, file, schema, chunks, tdparquet.WriteOptions{})
//
// Package tdarrow has the same functions, and lists under "Types" the entry for each type. A file
// that an Arrow library wrote also stores Arrow's types, such as categoricals and time zones. Of
// other files, such as DuckDB's, the types of Parquet count. For several files at once use
// forms.Convert, with package arrowforms.
//
// # Memory
//
// Read decodes a batch of rows of one row group at a time, on several cores. It also holds a page
// of each column. Together they take up to Options.MaxMemory bytes. Write holds a row group: see
// [WriteOptions].
//
// # Hostile files
//
// A file is not trusted. The lengths in its footer and in the headers of its pages are checked
// against the bytes that are there, before the library that decodes it allocates for them. What the
// library allocates is counted. If it panics, that is an error. A small valid file can have very
// many rows, as a run of one value. If that matters, check the number of rows, or the room on the
// disk. A file must not be changed while it is read.
//
// # Errors
//
// Errors are [*ColumnError]s with the file, the row group and the column. They wrap [ErrCorrupt]
// for a damaged file, [ErrUnsupported] for encryption and other parts of the format, [ErrMemory],
// errors of the reader or the system, and the errors of the conversion: [ErrType], [ErrNull],
// tdict.ErrSchema and others. Errors of [Write] have no such place.
//
// All functions are safe for concurrent use. The chunks of an iterator are not.
package tdparquet
