// Package forms opens, converts, slices and splits datasets in any form that this module supports:
// a directory, an archive, a consolidated file, .npy, .npz, .safetensors, .nrt, .csv, .jsonl, and
// with a driver .arrow and .parquet.
//
//	err := forms.Convert(ctx, "visits.tdz", []string{"may.csv", "june.csv"}, forms.Options{})
//	err = forms.Slice(ctx, "old.npz", "visits.tdz", forms.SliceOptions{Keep: old})
//	err = forms.Split(ctx, "parts", "visits.tdz", forms.SplitOptions{Counts: []int{80, 20}})
//	in, err := forms.Open("parts/0", forms.OpenOptions{})
//	defer in.Close()
//	for chunk, err := range in.Chunks(ctx) {
//		...
//	}
//
// The packages memmap, npy, nrt, safetensors, csv and jsonl do the work, and have more options.
//
//   - [Convert] saves all of a dataset, [Slice] some rows and entries, [Sample] rows chosen at
//     random, [Split] several parts. [Sort] and [Join] order and match rows.
//   - A [Selection] says which rows and entries; [Select] finds keys by a pattern.
//   - [Open] returns an [Input].
//   - [Register] adds a [Driver] for arrow or parquet.
//
// # Forms
//
// [Of] returns the form of an input. It looks at the first bytes of a file, and at the suffix if
// these are not enough. [For] returns the form of an output, by its suffix. OpenOptions.Form and
// Options.Form overrule them.
//
// If the form of the output cannot hold an entry or a property, that is a [Loss], and without Lossy
// a [LossError] lists them:
//
//	form           entries                    batch shape       names of dims
//	directory, tdz all, see below             kept              kept
//	tdc            all                        kept              kept
//	npz, npy       tensors except bfloat16;   one dim           lost
//	               no text
//	safetensors    tensors except complex128; kept              kept
//	               no text
//	nrt            fields of one tree         one dim           lost
//	csv            tensors, text, data        one dim           lost
//	jsonl          tensors, text, data,       one dim           lost
//	               ragged
//	arrow, parquet tensors except bfloat16    one dim           lost
//	               and complex; text, ragged,
//	               data
//
// A table holds data that has a text, a number or a bool for each row, as a column.
//
// Some forms have keys that no entry can have, such as "shape" in a directory. Then the error is
// memmap.ErrName, or an error of the package of the form, even with Lossy. Slice with Drop leaves
// the entry out.
//
// An .npy file holds one tensor without its key; it is opened under [ArrayKey]. An .nrt file holds
// ragged tensors with the lengths of one tree, and tensors without features; the first ragged leaf
// decides which tree. The order of keys is kept, with these exceptions: .safetensors sorts keys,
// .nrt has its own order, and data comes first in a consolidated file.
//
// Rows are appended if they come from several inputs, if a list, a mask or Keep picks them, or if
// they are split. Data that differs between rows cannot be appended: it is a Loss then.
//
// A directory, an archive or a consolidated file keeps the schema that was saved with the first
// input, without entries that the output lacks. It keeps the classes of dictionaries, unless rows
// are appended; then a class is a Loss. Other forms hold neither classes nor such a schema; for the
// schema see Input.Dataset.
//
// Safetensors keeps the metadata of the first input. In other forms each string of it is a Loss,
// except "format" and "total_size", which describe files.
//
// # Tables
//
// A csv or jsonl file is a table, and so is an arrow or parquet file. OpenOptions.Schema has its
// schema; without it, the schema of csv and jsonl is inferred from all rows, and steered by
// OpenOptions.Hints. A Schema is an error if neither an input nor the output is a table. Csv and
// jsonl do not store dtypes, so a schema is needed to restore them. In the output, ragged uint8
// with one level is text, unless the schema says that it is ragged; jsonl then refuses bytes that
// are not UTF-8.
//
// Arrow and parquet files store types and often our schema. This package has no code for them: a
// [Driver] does the work, which the program registers. Without it the error is [ErrDriver]. The
// module interop/arrow has drivers, and its package arrowforms registers them. Several files of one
// form need the same columns; masks and categories that only some of them have are joined.
//
// Only the schema that was saved with the dataset makes a bool leaf a mask ([tdict.Spec.Mask]); its
// name does not. A mask is not a column: values that it hides are written as missing. Reading makes
// the mask again, with zeros for missing values. A mask that hides nothing comes back only if the
// schema says Optional. A dataset that is made from a table has the schema of its chunks, with
// masks, times and categories; AddLeaf refuses other entries. Without a saved schema, and in forms
// that keep none, each bool leaf is a column.
//
// OpenOptions.Note is called if inference makes numbers or lists text, and for each header that is
// not the key of its entry.
//
// # Outputs
//
// An output appears whole or not at all. It is refused before any input is read if
//
//   - it exists and Force is not set,
//   - it is an input, or is inside an input, or contains one, after links are resolved,
//   - a memmap.Writer is writing it, or a dataset that contains it.
//
// An output has the permissions of what it replaces. If it replaces nothing, it has the permissions
// that all inputs have, before umask; the owner may always read and write. Until it is in its
// place, nobody but the owner can read it.
//
// Rows are written to a directory beside the output until it is complete. If the process is killed,
// that directory stays, and the next save by another process in the same directory removes it.
// Inputs are directories and regular files: for a pipe the error is [ErrForm]. The path [Stdin] is
// a table that is read from OpenOptions.Stdin.
//
// # Inputs
//
// Convert compares the checksums of an input while it reads it, so that damaged elements do not get
// new checksums. A Directory, an Archive, a Consolidated file and an Npz have checksums. If they
// differ from the elements, Convert returns memmap.ErrCorrupt, unless opt.SkipSums is set. If the
// elements were changed on purpose, as Python does in place, call memmap.Seal first.
//
// If an input is replaced meanwhile, as by memmap.Save, Convert begins again, and Progress counts
// from 0 again.
//
// While an Npy, Npz, Safetensors or NRT file or an Archive is written, the rows take twice their
// room on the disk, unless they come from one mapped input.
//
// # Memory
//
// These are held in memory:
//
//   - chunks of about 4 MiB, or one row if that is larger
//   - the lengths of ragged rows
//   - the list or mask of Slice
//   - for Split, 16 bytes for each row. With By it is about 40 bytes; about 90 bytes if nearly all
//     ids are distinct, unless they ascend
//   - elements that the packages of the forms copy when they open a file, such as deflated or
//     big-endian ones, up to 1 GiB
//
// At most two inputs are open at the same time: the first one and another. Pages of mapped files
// count in the size of a process too, but the system frees them when memory is short.
package forms
