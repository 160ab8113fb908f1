//go:build !unix

package programs

import (
	"errors"
	"io"
	"time"
)

// Supported reports whether this system has process groups.
const Supported = false

// A Program is a program that runs, or has run.
type Program struct{ io.Reader }

// Start returns errors.ErrUnsupported.
func Start([]string, []string, func(string)) (*Program, error) { return nil, errors.ErrUnsupported }

// Until does nothing.
func (p *Program) Until(time.Time) {}

// End does nothing.
func (p *Program) End(_, _ time.Duration) Exit { return Exit{} }
