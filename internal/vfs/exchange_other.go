//go:build !linux && !darwin

package vfs

import "errors"

func swapNames(_, _ string) error  { return errors.ErrUnsupported }
func renameFree(_, _ string) error { return errors.ErrUnsupported }
