//go:build !unix

package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// become runs a program, and ends this process with its exit code. It returns only if the program
// cannot be started. A terminal sends its signals to both processes.
func become(path string, args, env []string) error {
	cmd := exec.Command(path, args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err == nil || ended {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("start %s: %w", path, err)
}
