package wire

import (
	"encoding/binary"
	"io"

	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tdict"
)

// frameHeader is the size of the length of a frame, in bytes.
const frameHeader = 8

// An Encoder sends dictionaries, one frame each. Not safe for concurrent use.
type Encoder struct {
	plan   tdc.Plan
	out    gather
	header [frameHeader]byte
	err    error // of a frame that was sent partly
}

// NewEncoder returns an Encoder that writes to w. Encode writes whole frames, and buffers nothing
// when it returns.
func NewEncoder(w io.Writer) *Encoder { return &Encoder{out: gather{w: w}} }

// Encode sends td as a frame, which is written when Encode returns. It reads elements from their
// own memory, so nobody may write to td meanwhile. Over a TCP or Unix connection one system call
// writes many leaves.
//
// Encode returns an [Error]: the errors of [Append] about td, before anything is written, and the
// errors of w. If part of a frame was written, the Encoder cannot be used any more: Encode returns
// the same error again.
func (e *Encoder) Encode(td *tdict.TensorDict) error {
	if e.err != nil {
		return e.err
	}
	defer e.plan.Forget()
	if err := e.plan.Make(td); err != nil {
		return failed("encode", err)
	}
	if err := e.send(); err != nil {
		e.out.drop()
		e.err = failed("encode", err)
	}
	return e.err
}

// send writes the planned frame.
func (e *Encoder) send() error {
	trailer := e.plan.Trailer(nil)
	binary.LittleEndian.PutUint64(e.header[:], uint64(e.plan.Size()+len(trailer)))
	e.out.now = false
	if _, err := e.out.Write(e.header[:]); err != nil {
		return err
	}
	if err := e.plan.WriteData(&e.out); err != nil {
		return err
	}
	e.out.now = false
	if _, err := e.out.Write(trailer); err != nil {
		return err
	}
	return e.out.flush()
}
