package sampler

import "errors"

// ErrNil says that there is no sampler where one is needed.
var ErrNil = errors.New("no sampler")

// absent is what stands for a sampler that is nil.
type absent struct{}

// Order implements [Sampler].
func (absent) Order(Epoch) (Order, error) { return nil, ErrNil }

// String implements [Sampler].
func (absent) String() string { return "no sampler" }
