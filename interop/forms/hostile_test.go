package forms_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestHostileFiles converts the broken files of other packages: an error says the path, and leaves
// nothing. What a section of a case is, these packages say; cases with others are left out.
func TestHostileFiles(t *testing.T) {
	for _, corpus := range []struct {
		glob, name string // of the cases; of the file that sections without names make
		least      int    // cases that are refused
	}{
		{"../../memmap/testdata/broken/*.txt", "", 150},
		{"../safetensors/testdata/broken/*.txt", "", 40},
		{"../npy/testdata/broken/*.txt", "x.npy", 30},
	} {
		files, err := filepath.Glob(corpus.glob)
		require.NoError(t, err)
		refused := 0
		for _, file := range files {
			dir := testkit.TempDir(t)
			in := filepath.Join(dir, "in")
			require.NoError(t, os.Mkdir(in, 0o777))
			if !unpack(t, file, in, corpus.name) {
				continue
			}
			from := in
			for _, name := range []string{"model.safetensors.index.json", "x.safetensors", "x.npy"} {
				if _, err := os.Lstat(filepath.Join(in, name)); err == nil {
					from = filepath.Join(in, name)
					break
				}
			}
			var before []string
			for _, entry := range tensor.Must(os.ReadDir(dir)) {
				before = append(before, entry.Name())
			}
			for _, suffix := range []string{"", ".npz", ".jsonl"} {
				err := forms.Convert(ctx, filepath.Join(dir, "out"+suffix), []string{from}, forms.Options{Lossy: true, NoSync: true})
				if err == nil { // opening does not see all that is wrong
					require.NoError(t, os.RemoveAll(filepath.Join(dir, "out"+suffix)))
					continue
				}
				refused++
				require.Contains(t, err.Error(), filepath.Base(dir)+"/in", file)
				litter(t, dir, before...)
			}
		}
		require.GreaterOrEqual(t, refused, corpus.least, corpus.glob)
	}
}

// unpack makes the files of a case in a directory. It reports false if it does not know a section.
func unpack(t *testing.T, file, dir, unnamed string) bool {
	text := string(tensor.Must(os.ReadFile(file)))
	for _, section := range strings.Split(strings.TrimSuffix(text, "\n"), "\n-- ")[1:] {
		head, content, _ := strings.Cut(section, " --")
		content = strings.TrimPrefix(content, "\n")
		name, what, _ := strings.Cut(head, ": ")
		if unnamed != "" {
			name, what = unnamed, head
		}
		link, to, isLink := strings.Cut(strings.TrimPrefix(head, "link "), " -> ")
		switch {
		case unnamed == "" && isLink:
			require.NoError(t, os.Symlink(strings.ReplaceAll(to, "DIR", dir), filepath.Join(dir, link)))
			continue
		case unnamed == "" && strings.HasPrefix(head, "dir "):
			require.NoError(t, os.MkdirAll(filepath.Join(dir, head[len("dir "):]), 0o777))
			continue
		}
		b, ok := sectionBytes(t, what, content)
		if !ok || unnamed == "" && strings.Contains(name, " ") {
			return false
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		require.NoError(t, err)
		_, err = f.Write(b)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return true
}

// sectionBytes returns the bytes of a section.
func sectionBytes(t *testing.T, what, content string) ([]byte, bool) {
	number, unit, _ := strings.Cut(what, " ")
	n, err := strconv.Atoi(number)
	switch {
	case what == "" || what == "text":
		return []byte(content), true
	case what == "hex":
		b, err := hex.DecodeString(strings.Join(strings.Fields(content), ""))
		require.NoError(t, err)
		return b, true
	case what == "header":
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(content))), content...), true
	case what == "header 1":
		head := append([]byte("\x93NUMPY\x01\x00"), byte(len(content)+1), byte((len(content)+1)>>8))
		return append(append(head, content...), '\n'), true
	case err == nil && (unit == "bytes" || unit == "zeros"):
		return make([]byte, n), true
	case err == nil && unit == "times":
		return []byte(strings.Repeat(content, n)), true
	}
	return nil, false
}

// TestDamage changes each byte of a file, and cuts it there: no form makes Convert panic, or leave
// anything after an error.
func TestDamage(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](1, 2, 3)}))
	step := 23
	if longtests.On() {
		step = 1
	}
	for _, suffix := range all[1:] {
		dir := testkit.TempDir(t)
		path := filepath.Join(dir, "x"+suffix)
		require.NoError(t, forms.Convert(ctx, path, []string{in}, forms.Options{NoSync: true}))
		whole := tensor.Must(os.ReadFile(path))
		for at := 0; at < len(whole); at += step {
			changed := append([]byte{}, whole...)
			changed[at] ^= 0x41
			for i, b := range [][]byte{whole[:at], changed} {
				require.NoError(t, os.WriteFile(path, b, 0o666))
				out := filepath.Join(dir, "out.csv")
				err := forms.Convert(ctx, out, []string{path}, forms.Options{Lossy: true, NoSync: true})
				what := fmt.Sprint(suffix, " at ", at, " ", i)
				if err == nil {
					require.NoError(t, os.Remove(out), what)
				} else {
					require.Contains(t, err.Error(), "x"+suffix, what)
				}
				litter(t, dir, "x"+suffix)
			}
		}
	}
}
