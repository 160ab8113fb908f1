//go:build unix && !linux

package memmap_test

import "errors"

func mountReadOnly(string) error { return errors.ErrUnsupported }
