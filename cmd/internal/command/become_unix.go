//go:build unix

package command

import (
	"fmt"
	"syscall"
)

// become replaces this process by a program. It returns only if that fails.
func become(path string, args, env []string) error {
	return fmt.Errorf("start %s: %w", path, syscall.Exec(path, args, env))
}
