//go:build linux

package slurm_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// framesPath is what draw.py writes for samples 3 and 4 of gen-1.
const framesPath = "testdata/frames"

// TestDraw runs draw.py, where there is a Python with numpy, and compares what it writes with
// testdata. UPDATE_TEXTS=1 writes testdata.
func TestDraw(t *testing.T) {
	python := os.Getenv("TENSORDICT_PYTHON")
	if python == "" {
		t.Skip("TENSORDICT_PYTHON is not set")
	}
	script, err := filepath.Abs("draw.py")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, script)
	cmd.Env = append(os.Environ(), "TDICT_PRODUCER=gen-1", "TDICT_NUMBER=3", "TDICT_INDEX=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	var frames bytes.Buffer
	for range 2 {
		var length [8]byte
		_, err := io.ReadFull(io.TeeReader(out, &frames), length[:])
		require.NoError(t, err)
		_, err = io.CopyN(&frames, out, int64(binary.LittleEndian.Uint64(length[:])))
		require.NoError(t, err)
	}
	if os.Getenv("UPDATE_TEXTS") != "" {
		require.NoError(t, os.WriteFile(framesPath, frames.Bytes(), 0o666))
	}
	want, err := os.ReadFile(framesPath)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, frames.Bytes()))
}

// TestDrawn reads what draw.py has written into a sample of the schema.
func TestDrawn(t *testing.T) {
	text, err := os.ReadFile("schema.json")
	require.NoError(t, err)
	var schema tdict.Schema
	require.NoError(t, schema.UnmarshalJSON(text))
	sample, err := schema.Zeros()
	require.NoError(t, err)
	frames, err := os.ReadFile(framesPath)
	require.NoError(t, err)
	in := bytes.NewReader(frames)
	files := safetensors.NewReader(in)
	for _, number := range []int64{3, 4} {
		var length uint64
		require.NoError(t, binary.Read(in, binary.LittleEndian, &length))
		require.NoError(t, files.ReadInto(sample, int64(length)))
		labels, err := tdict.Slice[int64](sample, "label")
		require.NoError(t, err)
		require.Equal(t, []int64{number}, labels)
		image, err := sample.Tensor("image")
		require.NoError(t, err)
		require.NoError(t, tensor.Read(image, func(pixels []uint8) {
			require.Greater(t, len(bytes.Trim(pixels, string(pixels[:1]))), 4000, "it is not all the same")
		}))
	}
	require.Zero(t, in.Len())
}
