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
// The form has the elements of all leaves, one after another, then their names, dtypes and shapes as
// JSON. What Python's consolidate writes is read, and written again byte for byte, but for a device,
// which is not kept; TensorDict.from_consolidated reads what this package writes. Package memmap opens and saves files of
// this form, whose names end in .tdc; its FORMAT.md describes it.
//
// All kinds of value are kept, names of dims, classes, and locks. Python sees an unbatched tensor as
// a tensor, and ragged rows of more levels or batch dims than one as a dictionary of their parts.
// Entries without bytes, as data, come before or after the others: the form does not keep their
// place. What the form has no place for is [ErrUnsupported] or [ErrName], before anything is
// written.
//
// # Streams
//
// An [Encoder] writes frames: the length of a form as 8 bytes, little-endian, then the form. Leaves
// of 64 KiB and more are sent from where they lie, smaller ones are gathered, and the system is
// given them all in one call where it has one for that. A [Decoder] reads them. Memory grows with
// the bytes that have arrived, whatever length was announced. Neither authenticates nor encrypts:
// use crypto/tls.
//
// A peer that stalls is a matter of the connection: SetDeadline ends it, and so does a context by
// [Within].
//
// # Errors
//
// An error about an entry is an [Error] that says its key. A Decoder that fails within a frame, and
// an Encoder too, stays failed, since nobody knows where the next frame begins; after a frame that
// arrived whole but cannot be read, Decode reads the next one.
//
// # How it works
//
// Package internal/tdc plans, writes and reads the form; this package moves the bytes: message.go
// those in memory, encoder.go and gather.go those that are sent, decoder.go and into.go those that
// are received.
package wire
