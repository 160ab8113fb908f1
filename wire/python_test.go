package wire_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// python runs testdata/describe.py with the Python that TENSORDICT_PYTHON names, and returns the
// lines that it prints.
func python(t *testing.T, args ...string) []object {
	t.Helper()
	cmd := processkit.PythonCommand(t, append([]string{filepath.Join("testdata", "describe.py")}, args...)...)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	require.NoError(t, cmd.Run(), "%s", &failed)
	var lines []object
	for line := range strings.Lines(out.String()) {
		var o object
		require.NoError(t, json.Unmarshal([]byte(line), &o), line)
		lines = append(lines, o)
	}
	return lines
}

const randomFiles = 200

// TestPythonReads has Python read random dictionaries that we wrote.
func TestPythonReads(t *testing.T) {
	args := []string{"read"}
	var want []object
	for seed := range uint64(randomFiles) {
		td := newMaker(t, seed, seed%2 == 0).dict([][]int{{}, {0}, {3}, {2, 3}}[seed%4], 0)
		file := filepath.Join(t.TempDir(), fmt.Sprint(seed))
		require.NoError(t, os.WriteFile(file, tensor.Must(wire.Append(nil, td)), 0o600))
		args, want = append(args, file), append(want, describe(t, td))
	}
	got := python(t, args...)
	require.Len(t, got, randomFiles)
	for i := range got {
		same(t, want[i], got[i])
	}
}

// TestPythonWrites reads random dictionaries that Python wrote, and writes them again to equal
// bytes, but for what only Python has: rows of a jagged tensor with gaps between them, and stacks
// of equal data.
func TestPythonWrites(t *testing.T) {
	dir := t.TempDir()
	want := python(t, "make", dir, fmt.Sprint(randomFiles))
	require.Len(t, want, randomFiles)
	equal := 0
	for i := range want {
		data := tensor.Must(os.ReadFile(filepath.Join(dir, fmt.Sprintf("%d.tdc", i))))
		var m wire.Message
		require.NoError(t, m.UnmarshalBinary(data), i)
		same(t, want[i], describe(t, m.Dict))
		if bytes.Contains(data, []byte("<NJT_LENGTHS>")) {
			continue
		}
		n := binary.LittleEndian.Uint64(data[len(data)-8:])
		require.Equal(t, string(data[len(data)-8-int(n):]), string(trailerOf(t, m)), i)
		require.Equal(t, data, tensor.Must(m.MarshalBinary()), i)
		equal++
	}
	require.Greater(t, equal, randomFiles/2)
}

func trailerOf(t *testing.T, m wire.Message) []byte {
	b := tensor.Must(m.MarshalBinary())
	return b[len(b)-8-int(binary.LittleEndian.Uint64(b[len(b)-8:])):]
}
