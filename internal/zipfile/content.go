package zipfile

import (
	"bufio"
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
)

// Reader returns a reader of the content of e in the archive r, which inflates and checks it. It
// returns at most e.Size bytes, and the last one only if the checksum matches, so reading e.Size
// bytes checks the entry.
//
// Reading returns [ErrCorrupt] for a content that is shorter, longer or other than the directory
// says, and errors of r; none names the entry. Not safe for concurrent use.
func (e Entry) Reader(r io.ReaderAt) io.Reader {
	payload := io.NewSectionReader(r, e.Offset, e.Packed)
	if e.Method == Stored {
		return &content{r: payload, entry: e, left: e.Size}
	}
	return &content{r: flate.NewReader(bufio.NewReader(payload)), entry: e, left: e.Size}
}

// A content is what is left to read of an entry.
type content struct {
	r     io.Reader
	entry Entry
	left  int64
	crc   uint32
	err   error // once reading failed
}

func (c *content) Read(p []byte) (int, error) {
	switch {
	case c.err != nil:
		return 0, c.err
	case c.left == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	switch {
	case c.left == 0:
		err = c.end(err)
	case err == io.EOF:
		err = corrupt("the content ends %d bytes early", c.left)
	}
	if err != nil {
		c.err = classed(err)
		return 0, c.err
	}
	return n, nil
}

// end checks that the whole content was read, and was the right one. err is of the last read.
func (c *content) end(err error) error {
	more := 0
	if err == nil {
		more, err = io.ReadFull(c.r, make([]byte, 1))
	}
	switch {
	case more > 0:
		return corrupt("the content is longer than %d bytes", c.entry.Size)
	case err != io.EOF:
		return err
	case c.crc != c.entry.CRC:
		return corrupt("got CRC-32 %08x, want %08x", c.crc, c.entry.CRC)
	}
	return nil
}

// classed returns what package flate says of a payload as ErrCorrupt.
func classed(err error) error {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("%w", err)
	}
	return err
}
