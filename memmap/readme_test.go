package memmap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestReadme runs the code of the README; what is between the marks stands there, line by line.
func TestReadme(t *testing.T) {
	t.Chdir(t.TempDir())
	image := tensor.Must(tensor.Zeros[uint8](1797, 8, 8))
	labels, isDark := make([]int64, 1797), make([]bool, 1797)
	rows, others := []int{3, 1}, []int{5, 5}
	a, b := tdict.New(2), tdict.New(2)

	// README
	td, err := tdict.FromMap(shapeops.Shape{1797}, map[nestedkey.Key]tdict.Value{
		"image":      image,                    // uint8 [1797 8 8]
		"meta/label": tensor.Vector(labels...), // int64 [1797]; "meta" is a dictionary within
	})
	fmt.Println(td) // a tree of keys, shapes and dtypes
	require.NoError(t, err)

	err = memmap.Save("digits", td) // atomic: a crash leaves the old save or the new one
	require.NoError(t, err)
	ds, err := memmap.Open("digits") // no leaf is read yet; pass ds.TensorDict where a dictionary is wanted
	require.NoError(t, err)
	defer ds.Close()

	last, err := ds.Index(ix.Range(-10, ix.End)) // the last ten rows of every leaf, a view of the files
	require.NoError(t, err)
	batch, err := ds.Index(ix.Take(rows...)) // these rows, copied out
	require.NoError(t, err)
	err = ds.IndexInto(batch, ix.Take(others...)) // others, into the same memory
	require.NoError(t, err)
	dark, err := ds.Index(ix.Mask(isDark)) // where a mask is true
	require.NoError(t, err)
	both, err := shapeops.Stack([]*tdict.TensorDict{a, b}, 0) // batch shape [2 ...]
	require.NoError(t, err)

	scaled, err := batch.Apply(func(key nestedkey.Key, x *tensor.Tensor) (*tensor.Tensor, error) {
		if key != "image" {
			return x, nil
		}
		return tensor.Map(x, func(v uint8) float32 { return float32(v) / 16 })
	})
	require.NoError(t, err)
	images, err := scaled.Tensor("image")
	require.NoError(t, err)
	pixels, err := tensor.Of[float32](images) // []float32, row-major, no copy
	// README

	require.NoError(t, err)
	require.Equal(t, []any{shapeops.Shape{10}, shapeops.Shape{0}, shapeops.Shape{2, 2}, 128},
		[]any{last.Shape(), dark.Shape(), both.Shape(), len(pixels)})
}

// TestReadmeShowsThisCode compares the README with the test above.
func TestReadmeShowsThisCode(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	require.NoError(t, err)
	source, err := os.ReadFile("readme_test.go")
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```")
	parts := strings.Split(string(source), "\n\t// README\n")
	require.Len(t, parts, 3)
	require.Equal(t, code(shown), code(parts[1]))
}

// code returns the lines of a text that count: without indents, spaces before comments, blank lines and checks of errors.
func code(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "require.") {
			lines = append(lines, line)
		}
	}
	return lines
}
