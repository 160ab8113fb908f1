package dircache

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/samplecache"
)

// A place lends the file of a leaf to the sample of a row, until the row is committed or aborted.
// It implements tensor.Lender.
type place struct {
	row  *row
	file *mapfile.File
}

// Borrow implements tensor.Lender.
func (p *place) Borrow() ([]byte, error) {
	if !p.row.gate.enter() {
		return nil, fmt.Errorf("%v: %w: the slot was committed or aborted", p, samplecache.ErrClosed)
	}
	b, err := p.file.Borrow()
	if err != nil {
		p.row.gate.leave()
	}
	return b, err
}

// Return implements tensor.Lender.
func (p *place) Return() {
	p.file.Return()
	p.row.gate.leave()
}

// Pin implements tensor.Lender.
func (p *place) Pin() ([]byte, error) {
	if _, err := p.Borrow(); err != nil {
		return nil, err
	}
	defer p.Return()
	return p.file.Pin()
}

// ReadOnly implements tensor.Lender.
func (p *place) ReadOnly() bool { return false }

// Identity says what is the same memory; see tensor.Lender.
func (p *place) Identity() any { return p.file.Identity() }

// Intact says whether the file was cut; see tensor.Lender.
func (p *place) Intact() error { return p.file.Intact() }

// String names the place in errors.
func (p *place) String() string {
	return fmt.Sprintf("slot %d of generation %d in %s", p.row.slot, p.row.generation, p.row.s.dir)
}
