package mapfile

import (
	"io/fs"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

// A Part is a range of bytes of a [Single], such as a member of an archive. As a tensor.Lender it
// lends the whole file: pass [Part.Offset] to tensor.FromLender. Its errors name the part. Safe for
// concurrent use.
type Part struct {
	compared
	of     *Single
	path   string // "" for the whole file
	offset int
	size   int
}

var _ tensor.Lender = (*Part)(nil)

// Path returns the path of the part, or "" for the whole file.
func (p *Part) Path() string { return p.path }

// Offset returns the number of bytes of the file before the part.
func (p *Part) Offset() int { return p.offset }

// Size returns the number of bytes of the part.
func (p *Part) Size() int { return p.size }

// String returns the path of the file, as given to OpenSingle, and the path of the part, for
// errors.
func (p *Part) String() string {
	if p.path == "" {
		return p.of.path
	}
	return p.of.path + ": " + p.path
}

// Identity returns a comparable value that is equal for parts of the same file, as [File.Identity].
func (p *Part) Identity() any { return p.of.id }

// ReadOnly implements tensor.Lender.
func (p *Part) ReadOnly() bool { return true }

// Borrow implements tensor.Lender.
func (p *Part) Borrow() ([]byte, error) {
	m, err := p.of.mapping()
	if err != nil {
		return nil, p.named("read", err)
	}
	b, err := m.Acquire()
	return b, p.named("read", err)
}

// Return implements tensor.Lender.
func (p *Part) Return() { p.of.mapped.Load().Release() }

// Pin implements tensor.Lender.
func (p *Part) Pin() ([]byte, error) {
	m, err := p.of.mapping()
	if err != nil {
		return nil, p.named("read", err)
	}
	b, err := m.Pin()
	return b, p.named("read", err)
}

// Intact returns mapping.ErrFault if the file has become too short. It must be called between
// Borrow and Return; see [mapping.Mapping.Intact].
func (p *Part) Intact() error { return p.named("read", p.of.mapped.Load().Intact()) }

// Advise tells the system how size bytes of the part, from offset on, will be read. It maps the
// file if necessary.
func (p *Part) Advise(a mapping.Advice, offset, size int) error {
	m, err := p.of.mapping()
	if err == nil {
		err = m.AdviseRange(a, p.offset+offset, size)
	}
	return p.named("read", err)
}

// named adds the operation and the path of the part to an error.
func (p *Part) named(op string, err error) error {
	switch {
	case err == nil:
		return nil
	case p.of.name == nil:
		return &fs.PathError{Op: op, Path: p.String(), Err: err}
	}
	return p.of.name(op, p.path, err)
}
