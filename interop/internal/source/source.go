package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// ErrText says that a file is not a text, or that its compressed data are damaged.
var ErrText = errors.New("not a text")

// maxWindow is the largest window of zstd in bytes, which unzstd has too.
const maxWindow = 128 << 20

// headSize is the number of bytes that the form of a file is found from.
const headSize = 4

// A form is a compression or an encoding other than UTF-8.
type form struct {
	name string
	open func(r io.Reader) (io.Reader, error) // nil if it is not read
}

var (
	gzipped = &form{"gzip", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
	zstds   = &form{"zstd", newZstd}
	utf16LE = &form{"UTF-16", func(r io.Reader) (io.Reader, error) { return &utf16Reader{r: r}, nil }}
	utf16BE = &form{"UTF-16", func(r io.Reader) (io.Reader, error) { return &utf16Reader{r: r, big: true}, nil }}
	utf32   = &form{name: "UTF-32"}
	noMark  = &form{name: "UTF-16 without a byte order mark"}
)

func newZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// formOf returns the form that the first bytes say, or nil for text.
func formOf(b []byte) *form {
	has := func(begin string) bool { return bytes.HasPrefix(b, []byte(begin)) }
	switch {
	case has("\x1f\x8b"):
		return gzipped
	case has("\x28\xb5\x2f\xfd"), len(b) >= 4 && b[0]&0xf0 == 0x50 && string(b[1:4]) == "\x2a\x4d\x18": // may be skipped
		return zstds
	case has("\xff\xfe\x00\x00"), has("\x00\x00\xfe\xff"):
		return utf32
	case has("\xff\xfe"):
		return utf16LE
	case has("\xfe\xff"):
		return utf16BE
	case len(b) < headSize:
		return nil
	}
	switch [headSize]bool{b[0] == 0, b[1] == 0, b[2] == 0, b[3] == 0} {
	case [headSize]bool{false, true, true, true}, [headSize]bool{true, true, true, false}:
		return utf32
	case [headSize]bool{false, true, false, true}, [headSize]bool{true, false, true, false}:
		return noMark
	}
	return nil
}

// Name returns the form of a file by its first bytes, such as "gzip" or "UTF-16", or "" for text
// that is read unchanged.
func Name(begin []byte) string {
	if f := formOf(begin); f != nil {
		return f.name
	}
	return ""
}

// Open returns the text of r in UTF-8. Files of gzip and zstd, also several end to end, are
// decompressed, and UTF-16 that begins with a byte order mark is decoded, also in them. Other bytes
// are unchanged, also if they are not UTF-8.
//
// Open reads nothing. Read returns the errors of r. It returns [ErrText] for UTF-32; for UTF-16
// without a mark, in which every second byte is 0; and for compressed data that are damaged or,
// with io.ErrUnexpectedEOF, cut. The text of ErrText says what to do. Text before the damage is
// read.
func Open(r io.Reader) io.Reader { return &reader{from: &noted{r: r}} }

// A reader opens its input when it is first read.
type reader struct {
	from  *noted
	text  io.Reader // nil until then
	unzip string    // how the data are compressed, or ""
	n     int64     // bytes of text so far
	err   error
}

// A noted keeps the error of a reader, which need not return it again.
type noted struct {
	r   io.Reader
	err error
}

func (x *noted) Read(p []byte) (n int, err error) {
	if x.err != nil {
		return 0, x.err
	}
	n, x.err = x.r.Read(p)
	return n, x.err
}

// Read reads text.
func (x *reader) Read(p []byte) (n int, err error) {
	if x.text == nil && x.err == nil {
		x.err = x.open()
	}
	if x.err != nil {
		return 0, x.err
	}
	n, err = x.text.Read(p)
	x.n += int64(n)
	x.err = x.explained(err)
	return n, x.err
}

// open finds the form of the input.
func (x *reader) open() error {
	in, f := begin(x.from)
	if f == gzipped || f == zstds {
		x.unzip = f.name
		unzipped, err := f.open(in)
		if err != nil {
			return x.explained(err)
		}
		in, f = begin(unzipped)
	}
	var err error
	switch {
	case f == nil:
		x.text = in
	case f == gzipped || f == zstds:
		return fmt.Errorf("%w: got %s in %s, want text: decompress it once more first", ErrText, f.name, x.unzip)
	case f.open == nil:
		return fmt.Errorf("%w: got %s, want UTF-8: convert it, such as by iconv", ErrText, f.name)
	default:
		x.text, err = f.open(in)
	}
	return err
}

// begin returns r from its first byte on, and the form that its first bytes say. r returns an error
// again.
func begin(r io.Reader) (io.Reader, *form) {
	head := make([]byte, headSize)
	n, _ := io.ReadFull(r, head)
	in := io.MultiReader(bytes.NewReader(head[:n]), r)
	f := formOf(head[:n])
	if f == gzipped { // which reads bytes
		in = bufio.NewReaderSize(in, 1<<16)
	}
	return in, f
}

// explained adds the meaning of an error of compressed data. Errors of the input stay.
func (x *reader) explained(err error) error {
	switch {
	case err == nil || err == io.EOF || x.unzip == "":
		return err
	case x.from.err != nil && x.from.err != io.EOF:
		return x.from.err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: %s data end after %d bytes of text: the file is cut, get it again: %w", ErrText, x.unzip, x.n, io.ErrUnexpectedEOF)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("%w: zstd data need a window of more than %d MiB: run unzstd --long=31 first", ErrText, maxWindow>>20)
	}
	return fmt.Errorf("%w: %s data are damaged after %d bytes of text, get the file again: %w", ErrText, x.unzip, x.n, err)
}
