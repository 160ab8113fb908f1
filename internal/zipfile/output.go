package zipfile

import "io"

// A File is an empty file to write to.
type File interface {
	io.Writer
	io.WriterAt
}

const gathered = 64 << 10

// An output buffers small writes to a file. Written bytes can be replaced.
type output struct {
	f      File
	buffer []byte // at most gathered bytes
	at     int64  // offset of the buffer
}

// end returns the number of bytes written.
func (o *output) end() int64 { return o.at + int64(len(o.buffer)) }

func (o *output) Write(p []byte) (int, error) {
	if len(o.buffer)+len(p) > gathered {
		if err := o.flush(); err != nil {
			return 0, err
		}
	}
	if len(p) >= gathered {
		n, err := o.f.Write(p)
		o.at += int64(n)
		return n, err
	}
	o.buffer = append(o.buffer, p...)
	return len(p), nil
}

func (o *output) flush() error {
	if len(o.buffer) == 0 {
		return nil
	}
	n, err := o.f.Write(o.buffer)
	o.at += int64(n)
	o.buffer = o.buffer[:0]
	return err
}

// replace replaces the bytes of one Write at an offset. The bytes of one Write are either all in
// the file or all in the buffer.
func (o *output) replace(p []byte, at int64) error {
	if at >= o.at {
		copy(o.buffer[at-o.at:], p)
		return nil
	}
	_, err := o.f.WriteAt(p, at)
	return err
}
