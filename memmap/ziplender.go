package memmap

import (
	"hash/crc32"
	"io"
	"sync"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// A zipLeaf is the file of a leaf in an archive, stored without compression.
type zipLeaf struct {
	*mapfile.Part
	a     *archive
	entry zipfile.Entry
}

// verify reads the whole file and compares its CRC-32.
func (l *zipLeaf) verify(buf []byte) error {
	e := l.entry
	if e.Method != zipfile.Stored {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, e.Reader(l.a.Single), buf)
		return err
	}
	sum := crc32.NewIEEE()
	_, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.NewSectionReader(l.a.Single, e.Offset, e.Size), buf)
	if err == nil && sum.Sum32() != e.CRC {
		err = &zipMismatch{sum.Sum32(), e.CRC}
	}
	return err
}

// sum returns the CRC-32 and the size of the file.
func (l *zipLeaf) sum() (uint32, int64) { return l.entry.CRC, l.entry.Size }

// An inflated is a compressed leaf in an archive. It is inflated into memory when it is first used.
type inflated struct {
	zipLeaf
	size int
	once bool // the content is dropped after its use

	mu      sync.Mutex
	content []byte // guarded by mu; nil until first used
	users   int    // guarded by mu
}

// Size returns the size of the leaf in bytes.
func (l *inflated) Size() int { return l.size }

// Identity returns a comparable value that no other lender returns.
func (l *inflated) Identity() any { return l }

// Intact returns nil: the content is in memory.
func (l *inflated) Intact() error { return nil }

// Advise does nothing: the leaf is read as a whole.
func (l *inflated) Advise(Advice, int, int) error { return nil }

// Borrow implements tensor.Lender.
func (l *inflated) Borrow() ([]byte, error) {
	if _, err := l.Part.Borrow(); err != nil {
		return nil, err
	}
	b, err := l.inflate()
	if err != nil {
		l.Part.Return()
	}
	return b, err
}

// Return implements tensor.Lender.
func (l *inflated) Return() {
	l.mu.Lock()
	if l.users--; l.users == 0 && l.once {
		l.content = nil
	}
	l.mu.Unlock()
	l.Part.Return()
}

// Pin implements tensor.Lender.
func (l *inflated) Pin() ([]byte, error) {
	b, err := l.Borrow()
	if err != nil {
		return nil, err
	}
	defer l.Return()
	if _, err := l.Part.Pin(); err != nil {
		return nil, err
	}
	return b, nil
}

// inflate adds a user and returns the content.
func (l *inflated) inflate() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.content == nil {
		b := make([]byte, l.size)
		if err := l.a.readFull(l.entry, b); err != nil {
			return nil, l.a.opening.named("read", l.Path(), err)
		}
		l.content = b
	}
	l.users++
	return l.content, nil
}
