package memmap_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/tensor"
)

// Each file in testdata/broken is a case: a directory that is no sound dictionary, and what must be
// said of it. To add one, write a file like this:
//
//	The file of a leaf is a byte short.
//	ErrCorrupt
//	x.memmap: corrupt: got 7 bytes, want 8
//	leaves: 1
//
//	-- meta.json --
//	{"ok":{"dtype":"torch.uint8","shape":[]}, ... "_type":"TensorDict"}
//	-- ok.memmap: 1 bytes --
//	-- x.memmap: 7 bytes --
//
// The first line says what is broken, the second names the error, and the third is how its text
// goes on behind "open DIR: ". These are what Open says, and OpenWith with Writable, and Damage
// that Verify reports. Lines up to the first empty one say what differs:
//
//	leaves: 2                 Verify reads so many leaves nevertheless; otherwise none
//	open: works               or "verify: works", "writable: works"
//	writable: ErrBusy: text   another error and its text; so for open and verify
//	save: ErrForeign          Save refuses to replace the directory; otherwise it does replace it
//	bytes: 2000000            Open allocates so many bytes at most; otherwise 1 MiB
//
// The sections after them make the directory, as testkit.BuildDir says.
const brokenDir = "testdata/broken"

// brokenErrors are the errors that a case can name.
var brokenErrors = map[string]error{
	"ErrCorrupt": memmap.ErrCorrupt, "ErrUnsupported": memmap.ErrUnsupported, "ErrName": memmap.ErrName,
	"ErrForeign": memmap.ErrForeign, "ErrReplaced": memmap.ErrReplaced, "ErrBusy": memmap.ErrBusy,
	"ErrClosed": memmap.ErrClosed, "ErrFault": memmap.ErrFault,
}

// A brokenCase is a case.
type brokenCase struct {
	err, text string            // what is said
	but       map[string]string // what is said otherwise
	sections  []string
}

func readBroken(t *testing.T, file string) brokenCase {
	lines, sections := testkit.Sections(t, file)
	c := brokenCase{lines[1], lines[2], map[string]string{}, sections}
	require.Contains(t, brokenErrors, c.err)
	for _, line := range lines[3:] {
		name, value, _ := strings.Cut(line, ": ")
		require.Contains(t, []string{"leaves", "open", "verify", "writable", "save", "bytes"}, name)
		c.but[name] = value
	}
	return c
}

// build makes the directory.
func (c brokenCase) build(t *testing.T, dir string) {
	require.NoError(t, os.Mkdir(dir, 0o777))
	testkit.BuildDir(t, dir, c.sections)
}

// says returns the text and the error that an operation must return; nil if it works.
func (c brokenCase) says(t *testing.T, op string) (text string, err error) {
	name, text := c.err, c.text
	if but, ok := c.but[op]; ok {
		if but == "works" {
			return "", nil
		}
		name, text, _ = strings.Cut(but, ": ")
	}
	require.Contains(t, brokenErrors, name)
	require.NotEmpty(t, text, op)
	return text, brokenErrors[name]
}

func TestBroken(t *testing.T) {
	files := tensor.Must(filepath.Glob(filepath.Join(brokenDir, "*.txt")))
	require.GreaterOrEqual(t, len(files), 60, "cases")
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			c, dir := readBroken(t, file), filepath.Join(testkit.TempDir(t), "broken")
			c.build(t, dir)
			before := pictureOf(t, filepath.Dir(dir))
			c.open(t, dir, "open", memmap.OpenOptions{})
			c.open(t, dir, "writable", memmap.OpenOptions{Writable: true})
			c.verify(t, dir)
			require.Equal(t, before, pictureOf(t, filepath.Dir(dir)), "who only looks changes nothing")
			c.save(t, dir)
		})
	}
}

// open requires what is said of opening the directory, and that it costs little.
func (c brokenCase) open(t *testing.T, dir, op string, opt memmap.OpenOptions) {
	text, want := c.says(t, op)
	live := mapping.Live()
	var ds *memmap.Dataset
	var err error
	testkit.MaxBytes(t, c.bytes(), func() { ds, err = memmap.OpenWith(dir, opt) }) // whatever a file claims
	if want == nil {
		require.NoError(t, err, op)
		require.NoError(t, ds.Close())
	} else {
		requireSaid(t, dir, err, want, text)
	}
	if !opt.Writable {
		var looked error
		testkit.MaxBytes(t, c.bytes(), func() { _, looked = memmap.Look(dir, opt) })
		require.Equal(t, fmt.Sprint(err), fmt.Sprint(looked), "Look refuses what Open does")
	}
	require.LessOrEqual(t, mapping.Live(), live, "%s: nothing stays mapped", op)
}

// bytes returns how many bytes Open may allocate.
func (c brokenCase) bytes() uint64 {
	if n, err := strconv.ParseUint(c.but["bytes"], 10, 64); err == nil {
		return n
	}
	return 1 << 20
}

// requireSaid requires a DatasetError about the directory that says so, and names a file.
func requireSaid(t *testing.T, dir string, err, want error, said string) {
	t.Helper()
	require.ErrorIs(t, err, want)
	text := "open " + dir + ": " + said
	require.Equal(t, text, beginning(err.Error(), text))
	require.LessOrEqual(t, len(err.Error()), 1024)
	require.Equal(t, 1, strings.Count(err.Error(), dir), "the directory, once")
	e, ok := errors.AsType[*memmap.DatasetError](err)
	require.True(t, ok, "%T", err)
	require.Equal(t, dir, e.Dir)
	require.NotEmpty(t, e.Path, "the file")
	require.True(t, strings.HasPrefix(said, beginning(e.Path+": ", said)), "the file %s first", e.Path)
}

// beginning returns as many bytes of a text as another has.
func beginning(text, like string) string { return text[:min(len(text), len(like))] }

// verify requires Damage that says the same, and that Verify read the sound leaves nevertheless.
func (c brokenCase) verify(t *testing.T, dir string) {
	text, want := c.says(t, "verify")
	live := mapping.Live()
	var report *memmap.Report
	var err error
	testkit.MaxBytes(t, 16<<20, func() { report, err = memmap.Verify(t.Context(), dir, memmap.VerifyOptions{Workers: 1}) })
	require.NotNil(t, report, "%v", err)
	require.Equal(t, c.but["leaves"], strings.TrimPrefix(strconv.Itoa(report.Leaves), "0"), "leaves; %v", report.Damage)
	require.LessOrEqual(t, mapping.Live(), live)
	if want == nil {
		require.NoError(t, err)
		return
	}
	require.ErrorIs(t, err, want)
	require.LessOrEqual(t, len(err.Error()), 1024)
	require.NoError(t, testkit.Err(damageOf(report, want, text)))
}

// damageOf returns the Damage that is an error and whose text begins so.
func damageOf(report *memmap.Report, want error, text string) (memmap.Damage, error) {
	for _, f := range report.Damage {
		if errors.Is(f.Err, want) && strings.HasPrefix(f.File+": "+f.Err.Error(), text) {
			return f, nil
		}
	}
	return memmap.Damage{}, fmt.Errorf("no damage says %q: %v", text, report.Damage)
}

// save requires that Save replaces all of the directory, or changes nothing.
func (c brokenCase) save(t *testing.T, dir string) {
	before := pictureOf(t, filepath.Dir(dir))
	err := memmap.SaveWith(t.Context(), dir, steps(), memmap.SaveOptions{NoSync: true})
	if name := c.but["save"]; name != "" {
		require.Contains(t, brokenErrors, name)
		require.ErrorIs(t, err, brokenErrors[name])
		require.Equal(t, before, pictureOf(t, filepath.Dir(dir)), "nothing is changed")
		return
	}
	require.NoError(t, err)
	ds := tensor.Must(memmap.Open(dir))
	require.True(t, steps().Equal(ds.TensorDict))
	require.NoError(t, ds.Close())
	require.Len(t, tensor.Must(os.ReadDir(dir)), 3, "meta.json, obs and reward.memmap")
	delete(before, "broken")
	for at, was := range pictureOf(t, filepath.Dir(dir)) {
		if at != "broken" && !strings.HasPrefix(at, "broken"+string(filepath.Separator)) {
			require.Equal(t, before[at], was, "beside the directory")
		}
	}
}

// pictureOf returns what there is in a directory: kinds, sizes, contents, and where links lead.
func pictureOf(t *testing.T, dir string) map[string]string {
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == dir {
			return err
		}
		info := tensor.Must(d.Info())
		text := info.Mode().String()
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			text += tensor.Must(os.Readlink(at))
		case info.Mode().IsRegular():
			text += fmt.Sprint(info.Size())
			if info.Size() < 1<<20 {
				text += string(tensor.Must(os.ReadFile(at)))
			}
		}
		found[tensor.Must(filepath.Rel(dir, at))] = text
		return nil
	}))
	return found
}
