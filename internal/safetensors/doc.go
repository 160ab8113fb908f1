// Package safetensors reads and writes the headers of safetensors files: which tensors a file
// holds, by name, dtype and shape, and where the bytes of each lie. It knows no tensor.
//
//	h, err := safetensors.Read(file, size)
//	for _, e := range h.Entries {
//		_, err = file.ReadAt(memory[e.Name], h.DataStart+e.Begin) // e.End - e.Begin bytes
//	}
//
//	h, head, err := safetensors.Plan(entries, nil)
//	// write head, then the bytes of each of h.Entries
//
// # The format
//
//	8 bytes   the length H of the header, little-endian
//	H bytes   the header: a JSON object in UTF-8, padded with spaces
//	the rest  the data: elements of one tensor after another, little-endian, row-major
//
// The header has a field for each tensor,
//
//	{"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
//
// where offsets count bytes from the start of the data, and may have a field "__metadata__", an
// object of strings. The tensors fill the data without overlap, holes or anything after them.
// Elements are aligned to their size in a file of [Plan]; [Read] does not demand it.
//
// [Plan] makes the bytes that the original makes of the same tensors, but that metadata, which the
// original writes in any order, is sorted by name. [Read] demands of dtypes, shapes and offsets
// what the original does; it also refuses names that come twice, more than 64 dims, and elements
// of less than a byte.
//
// # Concurrency
//
// The functions are safe for concurrent use if their arguments are.
package safetensors
