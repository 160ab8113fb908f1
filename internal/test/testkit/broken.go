package testkit

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/tensor"
)

// Sections reads a case of testdata/broken: the lines that describe it, and its sections.
func Sections(t testing.TB, file string) (lines, sections []string) {
	t.Helper()
	text := strings.ReplaceAll(string(tensor.Must(os.ReadFile(file))), "\r\n", "\n")
	sections = strings.Split(strings.TrimSuffix(text, "\n"), "\n-- ")
	lines = strings.Split(strings.TrimSpace(sections[0]), "\n")
	if len(lines) < 3 {
		t.Fatalf("%s: got %q, want what is broken, the error, and its text", file, lines)
	}
	return lines, sections[1:]
}

// BuildDir fills a directory from sections. A section with the name of an earlier one continues
// that file. The newline at the end of a section is dropped, and DIR in a link is replaced by the
// directory.
//
//	-- name --                the text below
//	-- name: header --        the text below, after its length, as safetensors begin
//	-- name: length 7 --      only such a length
//	-- name: 7 bytes --       zeros
//	-- name: 7 times --       the text below, repeated
//	-- name: hex --           the bytes below
//	-- dir name --            a directory
//	-- link name -> to --     a symbolic link
//	-- pipe name --           a named pipe; the test is skipped on systems without named pipes
//	-- nest name 300 deep --  name, name/name and so on, each with the meta.json of the top
func BuildDir(t testing.TB, dir string, sections []string) {
	t.Helper()
	for _, s := range sections {
		head, body, _ := strings.Cut(s, " --\n")
		head = strings.TrimSuffix(head, " --")
		kind, name, _ := strings.Cut(head, " ")
		switch kind {
		case "dir":
			works(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
		case "link":
			name, to, _ := strings.Cut(name, " -> ")
			works(t, os.Symlink(strings.ReplaceAll(to, "DIR", dir), filepath.Join(dir, name)))
		case "pipe":
			if exec.Command("mkfifo", filepath.Join(dir, name)).Run() != nil {
				t.Skip("no named pipes on this system")
			}
		case "nest":
			nest(t, dir, strings.Fields(name))
		default:
			name, how, _ := strings.Cut(head, ": ")
			extend(t, filepath.Join(dir, name), how, body)
		}
	}
}

// nest builds a section "nest name 300 deep".
func nest(t testing.TB, dir string, words []string) {
	meta := tensor.Must(os.ReadFile(filepath.Join(dir, "meta.json")))
	for range tensor.Must(strconv.Atoi(words[1])) {
		dir = filepath.Join(dir, words[0])
		works(t, os.Mkdir(dir, 0o777))
		works(t, os.WriteFile(filepath.Join(dir, "meta.json"), meta, 0o666))
	}
}

// extend appends to a file, which it creates if necessary.
func extend(t testing.TB, at, how, body string) {
	t.Helper()
	works(t, os.MkdirAll(filepath.Dir(at), 0o777))
	f := tensor.Must(os.OpenFile(at, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666))
	defer f.Close()
	write := func(b []byte) { works(t, Err(f.Write(b))) }
	length := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	count, unit, _ := strings.Cut(how, " ")
	n, _ := strconv.ParseInt(count, 10, 64)
	switch {
	case how == "":
		write([]byte(body))
	case how == "header":
		write(append(length(uint64(len(body))), body...))
	case how == "hex":
		write(unhex(body))
	case count == "length":
		write(length(tensor.Must(strconv.ParseUint(unit, 10, 64))))
	case unit == "times" && n > 0:
		write([]byte(strings.Repeat(body, int(n))))
	case unit == "bytes":
		works(t, f.Truncate(tensor.Must(f.Stat()).Size()+n)) // takes no room on the disk
	default:
		t.Fatalf("section %q: what is %q?", at, how)
	}
}

// works ends the test if there is an error.
func works(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func unhex(text string) []byte {
	return tensor.Must(hex.DecodeString(strings.Join(strings.Fields(text), "")))
}

// BuildFile returns a file built from sections.
//
//	-- header 1 --          a header of a .npy file of version 1 with the text below
//	-- text --              the text below
//	-- hex --               the bytes below
//	-- 7 zeros --
//	-- 7 spaces --
//	-- member NAME --       the sections below are a stored member of an archive
//	-- packed NAME --       the same, deflated
func BuildFile(t testing.TB, sections []string) []byte {
	t.Helper()
	var out bytes.Buffer
	var members []Member
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
			members = append(members, Member{what, kind == "packed", BuildFile(t, sections[i+1:end])})
		case members != nil: // belongs to the member
		case kind == "header":
			out.Write(NpyHeader(byte(tensor.Must(strconv.Atoi(what))), body))
		case kind == "text":
			out.WriteString(body)
		case kind == "hex":
			out.Write(unhex(body))
		default:
			c := map[string]string{"zeros": "\x00", "spaces": " "}[what]
			if c == "" {
				t.Fatalf("section %q: what is %q?", head, what)
			}
			out.WriteString(strings.Repeat(c, tensor.Must(strconv.Atoi(kind))))
		}
	}
	if members != nil {
		return Archive(t, members...)
	}
	return out.Bytes()
}

// NpyHeader returns the header of a .npy file with a version and a text.
func NpyHeader(version byte, text string) []byte {
	b := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(text)))
	}
	return append(b, text...)
}

// A Member is a file in an archive.
type Member struct {
	name    string
	deflate bool
	content []byte
}

// Stored returns a member that is not compressed.
func Stored(name string, content []byte) Member { return Member{name, false, content} }

// Packed returns a member that is deflated.
func Packed(name string, content []byte) Member { return Member{name, true, content} }

// Archive returns a zip archive of members.
func Archive(t testing.TB, members ...Member) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive")
	f := tensor.Must(os.Create(path))
	w := zipfile.NewWriter(f)
	for _, m := range members {
		works(t, w.Add(zipfile.Header{Name: m.name, Deflate: m.deflate}, func(to io.Writer) error { return Err(to.Write(m.content)) }))
	}
	works(t, w.Close())
	works(t, f.Close())
	return tensor.Must(os.ReadFile(path))
}
