package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// TestGolden reads what Python's consolidate wrote, and writes it again to equal bytes.
func TestGolden(t *testing.T) {
	dirs := []string{filepath.Join("..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		files := tensor.Must(filepath.Glob(filepath.Join(dir, "con*", "data.tdc")))
		require.NotEmpty(t, files, dir)
		for _, file := range files {
			folder := filepath.Dir(file)
			t.Run(filepath.Base(folder), func(t *testing.T) { checkGolden(t, folder) })
		}
	}
}

func checkGolden(t *testing.T, folder string) {
	var want struct {
		Root object `json:"root"`
	}
	require.NoError(t, json.Unmarshal(tensor.Must(os.ReadFile(filepath.Join(folder, "expected.json"))), &want))
	data := tensor.Must(os.ReadFile(filepath.Join(folder, "data.tdc")))
	var m wire.Message
	require.NoError(t, m.UnmarshalBinary(data))
	same(t, want.Root, describe(t, m.Dict))
	again := tensor.Must(m.MarshalBinary())
	if bytes.Contains(data, []byte(`"device":"cpu"`)) { // which is not kept
		data, again = bytes.ReplaceAll(data, []byte(`"device":"cpu"`), []byte(`"device":null`)), again[:len(again)-8]
		data = data[:len(data)-8]
	}
	require.Equal(t, string(data), string(again))
	require.Equal(t, len(tensor.Must(m.MarshalBinary())), tensor.Must(wire.Size(m.Dict)))
}
