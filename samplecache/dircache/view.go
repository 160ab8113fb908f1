package dircache

import (
	"fmt"

	"github.com/go-tensordict/tensordict/tensor"
)

// A view lends the file of a leaf to a user of a generation, until that closes it. It implements
// tensor.Lender.
type view struct {
	r    *rows
	file tensor.Lender
}

// Borrow implements tensor.Lender.
func (v *view) Borrow() ([]byte, error) {
	if err := v.r.enter(); err != nil {
		return nil, err
	}
	b, err := v.file.Borrow()
	if err != nil {
		v.r.gate.leave()
	}
	return b, err
}

// Return implements tensor.Lender.
func (v *view) Return() {
	v.file.Return()
	v.r.gate.leave()
}

// Pin implements tensor.Lender.
func (v *view) Pin() ([]byte, error) {
	if err := v.r.enter(); err != nil {
		return nil, err
	}
	defer v.r.gate.leave()
	return v.file.Pin()
}

// ReadOnly implements tensor.Lender.
func (v *view) ReadOnly() bool { return true }

// Identity says what is the same memory; see tensor.Lender.
func (v *view) Identity() any {
	if known, ok := v.file.(interface{ Identity() any }); ok {
		return known.Identity()
	}
	return v.file
}

// Intact says whether the file was cut; see tensor.Lender.
func (v *view) Intact() error {
	if asks, ok := v.file.(interface{ Intact() error }); ok {
		return asks.Intact()
	}
	return nil
}

// String names the generation in errors.
func (v *view) String() string {
	return fmt.Sprintf("generation %d in %s", v.r.h.id, v.r.h.s.dir)
}
