package nrt

import (
	"os"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/tensor"
)

// mapped lends the memory of a file. Safe for concurrent use.
type mapped struct {
	*mapping.Mapping
	path string // as it was given
}

var _ tensor.Lender = (*mapped)(nil)

// mapFile maps the first size bytes of a file.
func mapFile(file *os.File, path string, size int) (*mapped, error) {
	m, err := mapping.Map(file, size, mapping.ReadOrCopy)
	if err != nil {
		return nil, err
	}
	return &mapped{m, path}, nil
}

func (m *mapped) fail(op string, err error) error { return fileError(op, m.path, "", err) }

// Borrow implements tensor.Lender.
func (m *mapped) Borrow() ([]byte, error) {
	b, err := m.Acquire()
	return b, m.fail("read", err)
}

// Return implements tensor.Lender.
func (m *mapped) Return() { m.Release() }

// Pin implements tensor.Lender.
func (m *mapped) Pin() ([]byte, error) {
	b, err := m.Mapping.Pin()
	return b, m.fail("read", err)
}

// ReadOnly implements tensor.Lender.
func (m *mapped) ReadOnly() bool { return true }

// Intact returns ErrFault if the file has become too short, between Borrow and Return.
func (m *mapped) Intact() error { return m.fail("read", m.Mapping.Intact()) }

// String returns the path of the file, for errors.
func (m *mapped) String() string { return m.path }
