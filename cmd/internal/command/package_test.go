package command

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
)

// TestPythonPackage runs the tests of the Python package tdict, which run this command. Python
// takes some seconds to start.
func TestPythonPackage(t *testing.T) {
	cmd := processkit.PythonCommand(t, "-m", "pytest", "-q", "-p", "no:cacheprovider")
	probe := processkit.PythonCommand(t, "-c", "import pytest")
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("TENSORDICT_PYTHON has no pytest: %s", out)
	}
	dir, err := filepath.Abs("../../../python")
	require.NoError(t, err)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "TDICT="+executable(t))
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
