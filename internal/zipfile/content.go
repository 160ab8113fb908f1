package zipfile

import (
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

// Reader returns a reader of the content of e in the archive r. It inflates and checks the content.
// It returns at most e.Size bytes, and the last one only if the checksum matches, so reading e.Size
// bytes checks the entry.
//
// Reading returns [ErrCorrupt] for a content that does not match the directory, and errors of r.
// Errors do not name the entry. Not safe for concurrent use.
func (e Entry) Reader(r io.ReaderAt) io.Reader {
	c := &content{r: io.NewSectionReader(r, e.Offset, e.Packed), entry: e, left: e.Size}
	switch {
	case e.Size == 0:
		c.err = io.EOF
	case e.Method == Deflate:
		inflater := inflaters.Get().(io.Reader)
		_ = inflater.(flate.Resetter).Reset(c.r, nil) // returns no error
		c.r = inflater
	}
	return c
}

// An inflater takes 40 KB, so it is reused after a content was read to its end.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// A content is the unread part of an entry.
type content struct {
	r     io.Reader
	entry Entry
	left  int64
	crc   uint32
	err   error // set once reading ended or failed
}

func (c *content) Read(p []byte) (int, error) {
	if c.err != nil || len(p) == 0 {
		return 0, c.err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	c.crc = crc32.Update(c.crc, crc32.IEEETable, p[:n])
	if c.left == 0 {
		err = c.end(err)
	} else if err == io.EOF {
		err = corrupt("the content ends %d bytes early", c.left)
	}
	if err == nil {
		return n, nil
	}
	if inflater, ok := c.r.(flate.Resetter); ok {
		_ = inflater.Reset(io.MultiReader(), nil) // drops the reference to the archive
		inflaters.Put(inflater)
	}
	c.r = nil
	if c.err = classed(err); c.err == io.EOF {
		return n, nil
	}
	return 0, c.err
}

// end returns io.EOF if the content ends here and has the right checksum. err is the error of the
// last read.
func (c *content) end(err error) error {
	more := 0
	if err == nil {
		more, err = io.ReadFull(c.r, make([]byte, 1))
	}
	switch {
	case more > 0:
		return corrupt("the content is longer than %d bytes", c.entry.Size)
	case err == io.EOF && c.crc != c.entry.CRC:
		return corrupt("got CRC-32 %08x, want %08x", c.crc, c.entry.CRC)
	}
	return err
}

// classed returns errors of package flate about a payload as ErrCorrupt.
func classed(err error) error {
	if _, ok := errors.AsType[flate.CorruptInputError](err); ok || errors.Is(err, io.ErrUnexpectedEOF) {
		return corrupt("%w", err)
	}
	return err
}
