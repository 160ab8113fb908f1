package safetensors_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each file in testdata/broken is a case: a file, or a set of files, that is not sound, and the
// error of opening it. To add one, write a file like this:
//
//	The data is a byte short.
//	ErrCorrupt
//	x.safetensors: header: tensor "a": data_offsets: corrupt: got end 4, want at most 3, which the file has
//
//	-- x.safetensors: header --
//	{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}
//	-- x.safetensors: 3 bytes --
//
// The first line says what is broken, the second names the error, and the third is the beginning of
// its text after "open DIR/", where DIR is the directory. A fourth, "bytes: 2000000", says how many
// bytes opening allocates at most, otherwise 1 MiB. The sections make the directory, as
// testkit.BuildDir says.
//
// The index is opened if there is one, and otherwise x.safetensors.
const brokenDir = "testdata/broken"

// brokenErrors are the errors that a case can name.
var brokenErrors = map[string]error{
	"ErrCorrupt": safetensors.ErrCorrupt, "ErrUnsupported": safetensors.ErrUnsupported, "ErrDepth": tdict.ErrDepth,
	"ErrExists": tdict.ErrExists, "ErrNotExist": fs.ErrNotExist,
}

// A brokenCase is a case.
type brokenCase struct {
	err, text string
	bytes     uint64
	sections  []string
}

func readBroken(t *testing.T, file string) brokenCase {
	lines, sections := testkit.Sections(t, file)
	require.Contains(t, brokenErrors, lines[1])
	c := brokenCase{lines[1], lines[2], 1 << 20, sections}
	if len(lines) > 3 {
		c.bytes = tensor.Must(strconv.ParseUint(strings.TrimPrefix(lines[3], "bytes: "), 10, 64))
	}
	return c
}

func TestBroken(t *testing.T) {
	files := tensor.Must(filepath.Glob(filepath.Join(brokenDir, "*.txt")))
	require.GreaterOrEqual(t, len(files), 40, "cases")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c, dir := readBroken(t, file), filepath.Join(testkit.MemoryDir(t), "broken")
			require.NoError(t, os.Mkdir(dir, 0o777))
			testkit.BuildDir(t, dir, c.sections)
			path := filepath.Join(dir, "model.safetensors.index.json")
			if _, err := os.Lstat(path); err != nil {
				path = filepath.Join(dir, "x.safetensors")
			}
			c.open(t, dir, path)
		})
	}
}

// open requires the error of the case, at little cost.
func (c brokenCase) open(t *testing.T, dir, path string) {
	live := mapping.Live()
	var err error
	testkit.MaxBytes(t, c.bytes, func() { _, err = safetensors.Open(path) })
	require.ErrorIs(t, err, brokenErrors[c.err])
	text := "open " + dir + string(filepath.Separator) + c.text
	require.Equal(t, text, err.Error()[:min(len(text), len(err.Error()))])
	require.LessOrEqual(t, len(err.Error()), 1024)
	require.Equal(t, 1, strings.Count(err.Error(), dir), "the file, once")
	_, ok := errors.AsType[*safetensors.FileError](err)
	require.True(t, ok, "%T", err)
	require.Equal(t, live, mapping.Live(), "nothing stays mapped")
}
