package mongowire_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPage runs the generator of docs/wirehead.md.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/wirehead.md")
	require.NoError(t, err)
	_, program, ok := strings.Cut(string(page), "```python\n")
	require.True(t, ok)
	program, _, _ = strings.Cut(program, "```\n")
	python := os.Getenv("TENSORDICT_PYTHON")
	if python == "" {
		t.Skip("TENSORDICT_PYTHON names no Python with torch and pymongo")
	}
	_, addr := serve(t, nil, mongowire.Options{Samples: 2, Create: inMemory(t, 2)})
	cmd := exec.CommandContext(within(t, 2*time.Minute), python, "-W", "ignore", "-c", program, "mongodb://"+addr)
	cmd.Dir = t.TempDir()
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	c := dial(t, addr)
	image, err := loaded(c.find("read.bin", e("filter", of("image", 1))))
	require.NoError(t, err)
	require.Equal(t, tensor.BFloat16, image.DType())
	require.Equal(t, []int{3, 5}, []int(image.Shape()))
	age, err := loaded(c.find("read.bin", e("filter", of("age", 1))))
	require.NoError(t, err)
	require.Equal(t, tensor.Int64, age.DType())
	require.Len(t, c.find("status"), 2)
}
