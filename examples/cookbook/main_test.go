package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/examples/internal/page"
)

// here is the directory of this package. The tasks work in another one.
var here, _ = os.Getwd()

func TestMain(m *testing.M) {
	leave := enter()
	code := m.Run()
	leave()
	os.Exit(code)
}

const scriptOutput = "torch.Size([1945]) ['f', 'f', 'f']\n[261.0, None, 302.0]\n1708\n"

// TestReadInPython needs Python with tensordict: see the variable TENSORDICT_PYTHON.
func TestReadInPython(t *testing.T) {
	if os.Getenv("TENSORDICT_PYTHON") == "" {
		t.Skip("TENSORDICT_PYTHON is not set")
	}
	t.Setenv("PYTHONPATH", filepath.Join(here, "../../python/src"))
	require.Equal(t, scriptOutput, page.Output(t, readInPython))
	women := open("women")
	defer women.Close()
	require.Equal(t, 1708, women.Shape()[0])
}
