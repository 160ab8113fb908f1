// Package wire reads and writes dictionaries in one buffer, the consolidated form of Python's
// tensordict, and sends them over connections.
//
//	b, err := wire.Append(nil, td)               // one message
//	td, err := wire.Parse(lender)                // views of the memory that has one
//
//	err := wire.NewEncoder(conn).Encode(td)      // here
//	dec := wire.NewDecoder(conn, wire.DecoderOptions{})
//	batch, err := dec.Decode()                   // there
//	err = dec.DecodeInto(dst)                    // there, without memory of its own
//
// The form has the elements of all leaves, one after another, then their names, dtypes and shapes
// as JSON. This package reads what Python's consolidate writes, and TensorDict.from_consolidated
// reads what this package writes. Package memmap opens and saves files of this form, whose names
// end in .tdc; its FORMAT.md describes the form.
//
// The form keeps all kinds of value, names of dims, classes and locks. Python reads an unbatched
// tensor as a tensor, and ragged rows that are not jagged as a dictionary of their parts. Other
// leaves of a dictionary that has tdict.Stacked ones are read as Stacked too.
//
// Writing what was read gives the same bytes as Python's, but for four things that a dictionary
// does not have: a device, gaps between the rows of a jagged tensor, a stack of equal data, which
// becomes data for all rows, and an order of entries for each member of a lazy stack.
//
// The form does not keep the place of data between other entries: data comes first. Leaves without
// bytes may change places with a dictionary next to them. A value that the form cannot hold is
// [ErrUnsupported], and a key [ErrName], before anything is written.
//
// # Streams
//
// An [Encoder] writes frames: the length of a form as 8 bytes, little-endian, then the form. Leaves
// of 64 KiB and more are sent from where they lie; smaller ones are copied next to each other. Over
// TCP and Unix connections one call of the system writes many of them. A [Decoder] reads frames.
// Its memory grows with the bytes that have arrived, whatever length a frame announces. Neither
// authenticates nor encrypts: use crypto/tls.
//
// If a peer stalls, the deadline of the connection ends the wait, or a context does: see [Within].
//
// # Errors
//
// An error about an entry is an [Error] that says its key. A Decoder or an Encoder that fails
// within a frame returns the same error from then on, since the beginning of the next frame is
// unknown. After a frame that arrived whole but cannot be read, Decode reads the next one.
//
// # How it works
//
// Package internal/tdc plans, writes and reads the form. This package moves the bytes: message.go
// in memory, encoder.go and gather.go to a writer, decoder.go and into.go from a reader.
package wire
