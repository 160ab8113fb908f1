// Package safetensors reads and writes the headers of safetensors files: the name, dtype and shape
// of each tensor in a file, and the position of its bytes. It does not import package tensor.
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
// In a file that [Plan] planned, elements are aligned to their size; [Read] does not require it.
//
// [Plan] returns the bytes that the original writes for the same tensors, with one exception: it
// sorts metadata by name, which the original writes in any order. [Read] requires the same of
// dtypes, shapes and offsets as the original. It also refuses duplicate names, more than 64 dims,
// and elements smaller than a byte.
//
// # Concurrency
//
// The functions are safe for concurrent use if their arguments are.
package safetensors
