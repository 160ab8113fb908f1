package npy_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/internal/zipfile"
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
// The sections after them make the file:
//
//	-- header 1 --          a header of version 1 with the text below
//	-- text --              the text below
//	-- hex --               the bytes below
//	-- 7 zeros --
//	-- 7 spaces --
//	-- member NAME --       the sections below make a stored member of an archive
//	-- packed NAME --       the same, deflated
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
	text := strings.TrimSuffix(string(tensor.Must(os.ReadFile(file))), "\n")
	sections := strings.Split(text, "\n-- ")
	lines := strings.Split(strings.TrimSpace(sections[0]), "\n")
	require.GreaterOrEqual(t, len(lines), 3, "what is broken, the error, and its text")
	c := brokenCase{text: lines[2], but: map[string]string{}}
	c.err = map[string]error{"ErrCorrupt": npy.ErrCorrupt, "ErrUnsupported": npy.ErrUnsupported, "ErrExists": tdict.ErrExists}[lines[1]]
	require.NotNil(t, c.err)
	for _, line := range lines[3:] {
		name, value, _ := strings.Cut(line, ": ")
		require.Contains(t, []string{"by", "maxcopy", "bytes", "read"}, name)
		c.but[name] = value
	}
	c.content = built(t, sections[1:])
	return c
}

func (c brokenCase) open(path string) error {
	most, _ := strconv.ParseInt(c.but["maxcopy"], 10, 64)
	if c.but["by"] == "OpenDict" {
		return testkit.Err(npy.OpenDictWith(path, npy.DictOptions{MaxCopy: most}))
	}
	return testkit.Err(npy.OpenWith(path, npy.Options{MaxCopy: most}))
}

// built returns the file that sections make.
func built(t *testing.T, sections []string) []byte {
	var out bytes.Buffer
	var a archive
	for i, s := range sections {
		head, body, _ := strings.Cut(s, " --\n")
		head = strings.TrimSuffix(head, " --")
		kind, what, _ := strings.Cut(head, " ")
		switch {
		case kind == "member" || kind == "packed":
			end := i + 1
			for end < len(sections) && !strings.HasPrefix(sections[end], "member ") && !strings.HasPrefix(sections[end], "packed ") {
				end++
			}
			a = append(a, member{what, kind == "packed", built(t, sections[i+1:end])})
		case a != nil: // is in the member
		case kind == "header":
			out.Write(header(byte(tensor.Must(strconv.Atoi(what))), body))
		case kind == "text":
			out.WriteString(body)
		case kind == "hex":
			out.Write(tensor.Must(hex.DecodeString(strings.Join(strings.Fields(body), ""))))
		default:
			c := map[string]string{"zeros": "\x00", "spaces": " "}[what]
			require.NotEmpty(t, c, head)
			out.WriteString(strings.Repeat(c, tensor.Must(strconv.Atoi(kind))))
		}
	}
	if a != nil {
		return a.bytes(t)
	}
	return out.Bytes()
}

// header returns a header of a version with a text.
func header(version byte, text string) []byte {
	b := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

// An archive is the members of one.
type archive []member

type member struct {
	name    string
	packed  bool
	content []byte
}

// bytes returns the archive as a file.
func (a archive) bytes(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	f := tensor.Must(os.Create(path))
	w := zipfile.NewWriter(f)
	for _, m := range a {
		_, err := tensor.Must(w.Create(zipfile.Header{Name: m.name, Deflate: m.packed})).Write(m.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	return tensor.Must(os.ReadFile(path))
}
