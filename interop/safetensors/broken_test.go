package safetensors_test

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/testkit"
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
// bytes opening allocates at most, otherwise 1 MiB. The sections make the directory. One whose name
// was there before continues that file. The newline at the end of a section does not count.
//
//	-- name --                the text below
//	-- name: header --        the text below, after its length
//	-- name: length 7 --      the length of a header
//	-- name: 7 bytes --       zeros
//	-- name: 7 times --       the text below, repeated
//	-- name: hex --           the bytes below
//	-- dir name --            a directory
//	-- link name -> to --     a symbolic link
//	-- pipe name --           a named pipe, or the case is skipped where there are none
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
	text := strings.ReplaceAll(string(tensor.Must(os.ReadFile(file))), "\r\n", "\n")
	sections := strings.Split(strings.TrimSuffix(text, "\n"), "\n-- ")
	lines := strings.Split(strings.TrimSpace(sections[0]), "\n")
	require.GreaterOrEqual(t, len(lines), 3, "what is broken, the error, and its text")
	require.Contains(t, brokenErrors, lines[1])
	c := brokenCase{lines[1], lines[2], 1 << 20, sections[1:]}
	if len(lines) > 3 {
		c.bytes = tensor.Must(strconv.ParseUint(strings.TrimPrefix(lines[3], "bytes: "), 10, 64))
	}
	return c
}

// build makes the directory.
func (c brokenCase) build(t *testing.T, dir string) {
	for _, s := range c.sections {
		head, body, _ := strings.Cut(s, " --\n")
		head = strings.TrimSuffix(head, " --")
		kind, name, _ := strings.Cut(head, " ")
		switch kind {
		case "dir":
			require.NoError(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
		case "link":
			name, to, _ := strings.Cut(name, " -> ")
			require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
		case "pipe":
			if exec.Command("mkfifo", filepath.Join(dir, name)).Run() != nil {
				t.Skip("no named pipes on this system")
			}
		default:
			name, how, _ := strings.Cut(head, ": ")
			extend(t, filepath.Join(dir, name), how, body)
		}
	}
}

// extend appends to a file, which it makes if need be.
func extend(t *testing.T, at, how, body string) {
	f := tensor.Must(os.OpenFile(at, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666))
	defer f.Close()
	write := func(b []byte) { require.NoError(t, testkit.Err(f.Write(b))) }
	count, unit, _ := strings.Cut(how, " ")
	n, _ := strconv.ParseInt(count, 10, 64)
	switch {
	case how == "":
		write([]byte(body))
	case how == "header":
		write(fileOf(body))
	case how == "hex":
		write(tensor.Must(hex.DecodeString(strings.Join(strings.Fields(body), ""))))
	case count == "length":
		write(binary.LittleEndian.AppendUint64(nil, tensor.Must(strconv.ParseUint(unit, 10, 64))))
	case unit == "times" && n > 0:
		write([]byte(strings.Repeat(body, int(n))))
	case unit == "bytes":
		require.NoError(t, f.Truncate(tensor.Must(f.Stat()).Size()+n)) // which takes no room
	default:
		t.Fatalf("section %q: what is %q?", at, how)
	}
}

func TestBroken(t *testing.T) {
	files := tensor.Must(filepath.Glob(filepath.Join(brokenDir, "*.txt")))
	require.GreaterOrEqual(t, len(files), 40, "cases")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c, dir := readBroken(t, file), filepath.Join(testkit.MemoryDir(t), "broken")
			require.NoError(t, os.Mkdir(dir, 0o777))
			c.build(t, dir)
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
