package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
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
		require.True(t, len(files) > 0 || dir != dirs[0], dir)
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
	same(t, shared(want.Root), describe(t, m.Dict))
	again := tensor.Must(m.MarshalBinary())
	var back wire.Message
	require.NoError(t, back.UnmarshalBinary(bytes.Clone(again)))
	same(t, describe(t, m.Dict), describe(t, back.Dict))
	if reflect.DeepEqual(want.Root, shared(want.Root)) {
		require.Equal(t, pythons(data), pythons(again))
	}
	require.Equal(t, len(tensor.Must(m.MarshalBinary())), tensor.Must(wire.Size(m.Dict)))
}

// pythons returns the bytes of a consolidated file without what Python does not write or this
// module does not keep: the facts about unbatched tensors, the device, and the length of the JSON.
func pythons(data []byte) string {
	text := bytes.ReplaceAll(data[:len(data)-8], []byte(`"device":"cpu"`), []byte(`"device":null`))
	return string(unbatchedFact.ReplaceAll(text, nil))
}

var unbatchedFact = regexp.MustCompile(`,"size":\{"go":\{"unbatched":\{[^}]*\}\}\}`)

// shared returns an expected value in which data that has one value in all rows is the same as data
// of that value, as this module writes it.
func shared(v any) any {
	switch v := v.(type) {
	case []any:
		out := []any{}
		for _, x := range v {
			out = append(out, shared(x))
		}
		return out
	case object:
		if v["kind"] == "nontensorstack" {
			rows := v["data"].([]any)
			for range len(v["shape"].([]any)) - 1 {
				var all []any
				for _, row := range rows {
					all = append(all, row.([]any)...)
				}
				rows = all
			}
			if !slices.ContainsFunc(rows, func(x any) bool { return !reflect.DeepEqual(x, rows[0]) }) {
				return object{"kind": "nontensor", "shape": v["shape"], "data": rows[0]}
			}
		}
		out := object{}
		for name, x := range v {
			out[name] = shared(x)
		}
		return out
	}
	return v
}
