// Package wire reads and writes dictionaries in one buffer, the consolidated form of Python's
// tensordict, and sends them over connections.
//
//	b, err := wire.Append(nil, td)               // one message
//	td, err := wire.Parse(lender)                // views of the memory of lender
//
//	err := wire.NewEncoder(conn).Encode(td)      // the sender
//	dec := wire.NewDecoder(conn, wire.DecoderOptions{})
//	batch, err := dec.Decode()                   // the receiver
//	err = dec.DecodeInto(dst)                    // the receiver, into memory that it owns
//
// The form has the elements of all leaves, one after another, then their names, dtypes and shapes
// as JSON. This package reads the output of Python's consolidate, and TensorDict.from_consolidated
// reads the output of this package. Package memmap opens and saves files of this form, whose names
// end in .tdc; its FORMAT.md describes the form.
//
// The form keeps all kinds of values, names of dims, classes and locks. There are some differences:
//
//   - Python reads an unbatched tensor as a tensor, and a ragged tensor that is not jagged as a
//     dictionary of its parts.
//   - If a dictionary has tdict.Stacked leaves, its other leaves are read as Stacked too.
//   - Data comes before other entries. A leaf without elements may change places with a
//     dictionary next to it.
//   - A value that the form cannot hold is [ErrUnsupported], and a key [ErrName], before anything
//     is written.
//
// If a form of Python's is read and written again, the bytes are the same, except for four things
// that a dictionary does not keep: a device, gaps between the rows of a jagged tensor, a stack of
// equal data, which becomes data for all rows, and the order of the entries of each member of a
// lazy stack, which becomes the order of the stack.
//
// # Streams
//
// An [Encoder] writes frames: the length of a form in 8 bytes, little-endian, then the form. Leaves
// of 64 KiB and more are sent from their own memory; smaller ones are copied to a buffer. Over TCP
// and Unix connections, one system call writes many leaves. A [Decoder] reads frames. Its memory
// grows with the bytes that have arrived, whatever length a frame announces. Neither authenticates
// nor encrypts: use crypto/tls.
//
// If a peer stalls, the deadline of the connection ends the wait, or a context does: see [Within].
//
// # Errors
//
// An error about an entry is an [Error] with its key. A Decoder or an Encoder that fails within a
// frame returns the same error afterwards, because the beginning of the next frame is unknown.
// After a frame that arrived whole but cannot be read, Decode reads the next one.
//
// # How it works
//
// Package internal/tdc plans, writes and reads the form. This package moves the bytes: message.go
// in memory, encoder.go and gather.go to a writer, decoder.go and into.go from a reader.
package wire
