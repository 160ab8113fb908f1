// Package message reads Arrow's IPC messages and trusts none of their bytes.
//
// The library would read beyond a message, or allocate any size that a changed byte claims. So the
// messages are read here: their flatbuffers, the footer of a file, the lengths of fields and
// buffers. The library gets the schema, when it was checked, and makes arrays of buffers that were
// checked.
//
//	f, err := message.Open(b, message.Options{}) // a file or a stream, in memory or mapped
//	f.Select([]int{0, 3})                        // the columns that batches have
//	for i := range f.Len() {
//		rec, err := f.Batch(i)
//		...
//	}
//
// A [File] has its bytes in memory, or mapped: the arrays of uncompressed batches alias them, and
// columns that are not selected are not read. A [Stream] reads an io.Reader batch by batch.
//
// # What is checked
//
// Each offset is inside the message, and each buffer inside the body. Buffers have the bytes that
// the number of values needs, and are aligned. Nesting, the number of fields and the memory of a
// batch have limits. The buffers of a batch together have no more bytes than its body. Numbers
// inside buffers are not checked: the offsets of lists and texts, views, the indices of
// dictionaries.
package message
