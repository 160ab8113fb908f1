package npy_test

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each file in testdata/broken is a case: a file that this package must refuse, and the error. To
// add one, write a file like this:
//
//	The array is a byte short.
//	ErrCorrupt
//	"a.npy": corrupt: got 7 bytes after the header, want the 8 of the elements
//	by: OpenDict
//
//	-- member a.npy --
//	-- header 1 --
//	{'descr': '<u1', 'fortran_order': False, 'shape': (8,), }
//	-- 7 zeros --
//
// The first line says what is broken, the second names the error, and the third is the text of the
// error after "open FILE: ". Lines up to the first empty one say what differs from the default:
//
//	by: OpenDict     OpenDict opens the file, and not Open
//	maxcopy: 100     with this MaxCopy
//	bytes: 2000000   opening allocates at most 2,000,000 bytes; otherwise 256 KiB
//	read: works      Read reads an array from the start of the file; otherwise it fails too
//
// The sections after them make the file, as testkit.BuildFile says.
const brokenDir = "testdata/broken"

func TestBroken(t *testing.T) {
	files := tensor.Must(filepath.Glob(filepath.Join(brokenDir, "*.txt")))
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c := readBroken(t, file)
			path := put(t, c.content)
			limit := uint64(256 << 10)
			if c.but["bytes"] != "" {
				limit = uint64(tensor.Must(strconv.Atoi(c.but["bytes"])))
			}
			var err error
			testkit.MaxBytes(t, limit, func() { err = c.open(path) })
			require.IsType(t, &npy.FileError{}, err)
			require.ErrorIs(t, err, c.err)
			require.EqualError(t, err, "open "+path+": "+c.text)
			if c.but["by"] == "" {
				_, err := npy.Read(bytes.NewReader(c.content))
				require.Equal(t, c.but["read"] == "works", err == nil, "%v", err)
			}
		})
	}
}

// A brokenCase is a case.
type brokenCase struct {
	err     error
	text    string
	but     map[string]string
	content []byte
}

func readBroken(t *testing.T, file string) brokenCase {
	lines, sections := testkit.Sections(t, file)
	c := brokenCase{text: lines[2], but: map[string]string{}}
	c.err = map[string]error{"ErrCorrupt": npy.ErrCorrupt, "ErrUnsupported": npy.ErrUnsupported, "ErrExists": tdict.ErrExists}[lines[1]]
	require.NotNil(t, c.err)
	for _, line := range lines[3:] {
		name, value, _ := strings.Cut(line, ": ")
		require.Contains(t, []string{"by", "maxcopy", "bytes", "read"}, name)
		c.but[name] = value
	}
	c.content = testkit.BuildFile(t, sections)
	return c
}

func (c brokenCase) open(path string) error {
	most, _ := strconv.ParseInt(c.but["maxcopy"], 10, 64)
	if c.but["by"] == "OpenDict" {
		return testkit.Err(npy.OpenDictWith(path, npy.DictOptions{MaxCopy: most}))
	}
	return testkit.Err(npy.OpenWith(path, npy.Options{MaxCopy: most}))
}
