// Package forms opens, converts, cuts and splits datasets in any form that this module knows: a
// directory, an archive, a consolidated file, .npy, .npz, .safetensors, .nrt, .csv or .jsonl.
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
// # Forms
//
// [Of] tells the form of an input by its first bytes, and by its suffix where the bytes do not
// tell; [For] tells the form of an output by its suffix. OpenOptions.Form and Options.Form overrule
// them.
//
// An entry or a property that the form of the output cannot hold is a [Loss]:
//
//	form           entries                    batch shape       names of dims
//	directory, tdz all, see below             kept              kept
//	tdc            all                        kept              kept
//	npz, npy       tensors, but bfloat16;     one dim           lost
//	               no text
//	safetensors    tensors, but complex128;   kept              kept
//	               no text
//	nrt            fields of one tree         one dim           lost
//	csv            tensors, text              one dim           lost
//	jsonl          tensors, text, ragged      one dim           lost
//
// A key that has no name in a form, as "shape" in a directory, is an error of its package, with
// Lossy too: Slice with Drop leaves it out.
//
// An .npy file holds one tensor, without its key: it is opened under [ArrayKey]. An .nrt file holds
// ragged tensors that have the lengths of one tree, and tensors without features; the first ragged
// leaf decides which tree. Safetensors lists keys in their order. The order of keys is otherwise
// kept, but for .nrt, and for data in a consolidated file, which comes first.
//
// Rows are appended if they come from several inputs, are picked by a list, a mask or Keep, or are
// split. Data that differs between rows cannot be appended, so it is a Loss then.
//
// A directory, an archive or a consolidated file keeps the schema that was saved with the first
// input, without entries that the output lacks. It keeps the classes of dictionaries, unless rows
// are appended, which is a Loss. Other forms hold no classes, and no such schema: the Schema of
// Input.Dataset has it.
//
// Safetensors keeps the metadata of the first input. In other forms each string of it is a Loss,
// but for "format" and "total_size", which are about files.
//
// # Tables
//
// The schema of csv and jsonl is inferred from all rows unless OpenOptions.Schema has it: int64,
// float64, bool or text. A Schema is an error where neither an input nor the output is a table.
// Tables hold no dtypes, so a schema restores them. In the output, ragged uint8 of one level is
// text, unless the schema says otherwise: jsonl then refuses bytes that are not UTF-8. A bool leaf
// KEY_mask that fits KEY is not a column: values that it hides are written as missing, and reading
// makes the mask again, and zeros of the values. A mask that hides nothing comes back only with a
// schema that says Optional.
//
// # Outputs
//
// An output appears whole or not at all. Before any input is read it is refused if
//
//   - something is there and Force is not set,
//   - it is an input, lies in one or around one, links resolved,
//   - a memmap.Writer is at work in it or in the dataset around it.
//
// Until it is whole, its rows lie beside it. If the process is killed, they stay there, and the
// next save of another process beside them removes them. Inputs are directories and regular files:
// a pipe is [ErrForm].
//
// # Memory
//
// Held in memory are:
//
//   - chunks of about 4 MiB, or one row that is larger
//   - the offsets of ragged rows
//   - a list or a mask of Slice
//   - for each row that Split deals 16 bytes; by ids or texts about 40, and if nearly all of them
//     are distinct about 90, but for ascending ids
//   - elements that the packages copy to open them, as deflated or big-endian ones, up to 1 GiB
//
// Several inputs are open one at a time, but for the first one. Pages of mapped files count in the
// size of a process too; the system takes them back when memory is short.
package forms
