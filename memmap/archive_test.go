package memmap_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// savedArchive returns the path of an archive of td.
func savedArchive(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "a.tdz")
	require.NoError(t, memmap.Save(at, td))
	return at
}

// TestGoldenArchives opens what Python's tensordict packed.
func TestGoldenArchives(t *testing.T) {
	dirs := []string{filepath.Join("..", "testdata", "golden")}
	if dir := os.Getenv("GOLDEN_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		for _, file := range tensor.Must(filepath.Glob(filepath.Join(dir, "tdz*", "*.tdz"))) {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				var want struct {
					Root node `json:"root"`
				}
				text := tensor.Must(os.ReadFile(filepath.Join(filepath.Dir(file), "expected.json")))
				require.NoError(t, json.Unmarshal(text, &want))
				ds := open(t, file)
				sameAsNode(t, want.Root, ds.TensorDict)
				requireSound(t, file)
			})
		}
	}
}

// counted returns a tensor of the numbers from 0.
func counted(dtype tensor.DType, shape ...int) *tensor.Tensor {
	all := tensor.Must(tensor.Arange(0, int64(shapeops.Shape(shape).Size()), 1))
	return tensor.Must(tensor.Must(all.Cast(dtype)).Reshape(shape...))
}

// everyKind returns dictionaries of which each has one kind of value, in all its forms.
func everyKind(t *testing.T) map[string]*tdict.TensorDict {
	all := map[string]*tdict.TensorDict{
		"kinds": kinds(t, 3), "empty": tdict.New(4), "no rows": kinds(t, 0), "no dims": tdict.New(),
		"levels": holding(t, shapeops.Shape{3}, visited(t, 3, 3)),
		"text":   holding(t, shapeops.Shape{3}, tensor.Must(tdict.NewData("é", 3))),
		"rows":   holding(t, shapeops.Shape{2}, tensor.Must(tdict.DataFrom([]any{"a", int64(1)}, 2))),
	}
	dtypes, odd := tdict.New(2), tdict.New(2)
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Int8,
		tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128} {
		require.NoError(t, dtypes.Set(nestedkey.Of("of", d.String()), counted(d, 2, 3)))
	}
	for _, name := range []string{"a b", "é", "..", ":", "%", "a", "a.b", "Ā"} {
		require.NoError(t, odd.Set(nestedkey.Of(name), counted(tensor.Int8, 2)))
		require.NoError(t, odd.Set(nestedkey.Of("in", name, "deep"), counted(tensor.Int16, 2)))
	}
	require.NoError(t, odd.SetNames("time"))
	all["dtypes"], all["names"] = dtypes, odd
	return all
}

// TestArchiveKeepsEveryKind copies dictionaries from directory to archive and back: the directories
// are equal, checksums too.
func TestArchiveKeepsEveryKind(t *testing.T) {
	folders := tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "td*", "data")))
	top := t.TempDir()
	check := func(t *testing.T, dir string) {
		for _, compress := range []bool{false, true} {
			top := t.TempDir()
			file, again := filepath.Join(top, "a.tdz"), filepath.Join(top, "d")
			require.NoError(t, memmap.Copy(t.Context(), dir, file, memmap.CopyOptions{Save: memmap.SaveOptions{Compress: compress}}))
			requireSound(t, file)
			require.NoError(t, memmap.Copy(t.Context(), file, again, memmap.CopyOptions{}))
			require.Equal(t, tree(t, dir), tree(t, again))
		}
	}
	for name, td := range everyKind(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(top, name)
			require.NoError(t, memmap.Save(dir, td))
			check(t, dir)
		})
	}
	for _, folder := range folders {
		name := filepath.Base(filepath.Dir(folder))
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(top, name)
			err := memmap.Copy(t.Context(), folder, dir, memmap.CopyOptions{})
			if ds, failed := memmap.Open(folder); failed != nil {
				require.ErrorIs(t, err, memmap.ErrUnsupported)
				require.NoFileExists(t, dir)
				return
			} else {
				require.NoError(t, ds.Close())
			}
			require.NoError(t, err)
			if name == "td11_nested_strided" {
				require.Contains(t, metaText(t, dir), `"is_nested":true`, "it stays a nested tensor")
			}
			check(t, dir)
		})
	}
}

// TestArchiveIsOnlyRead asks an archive for what only a directory can do.
func TestArchiveIsOnlyRead(t *testing.T) {
	const text = "unsupported: an archive or a consolidated file is not changed in place: memmap.Copy it to a directory first"
	file := savedArchive(t, steps())
	before := tensor.Must(os.ReadFile(file))
	ds := open(t, file)
	newName := filepath.Join(t.TempDir(), "new.tdz")
	tests := []struct {
		name, text string
		run        func() error
	}{
		{"Writable", "open " + file + ": " + text, func() error { _, err := memmap.OpenWith(file, memmap.OpenOptions{Writable: true}); return err }},
		{"AddLeaf", "add " + file + ": " + text, func() error { return ds.AddLeaf("x", tensor.Must(tensor.New(tensor.Int8, ds.Shape()...))) }},
		{"Writer", "append " + file + ": " + text, func() error {
			_, err := memmap.NewWriter(file, tensor.Must(steps().Index(ix.At(0))), memmap.WriterOptions{})
			return err
		}},
		{"Create", "create " + file + ": " + text, func() error { _, err := memmap.Create(file, steps(), memmap.CreateOptions{Replace: true}); return err }},
		{"Create of a name", "create " + newName + ": " + text, func() error { _, err := memmap.Create(newName, steps(), memmap.CreateOptions{}); return err }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.run()
			require.ErrorIs(t, err, memmap.ErrUnsupported)
			require.EqualError(t, err, tt.text)
		})
	}
	require.ErrorContains(t, ds.Delete("reward"), "change a Copy and Save it")
	for _, v := range ds.Tensors() {
		require.ErrorIs(t, v.SetIndex(tensor.Must(v.Clone())), tensor.ErrReadOnly)
	}
	require.NoError(t, ds.Flush())
	require.NoError(t, ds.Prefetch(0, 1))
	require.NoError(t, ds.Advise(memmap.Random))
	require.Equal(t, before, tensor.Must(os.ReadFile(file)))
	require.NoError(t, ds.Close())
	require.ErrorIs(t, ds.Flush(), memmap.ErrClosed)
	require.ErrorIs(t, ds.Prefetch(0), memmap.ErrClosed)
}

// TestSaveKeepsTheForm saves over what is there, in one form and the other.
func TestSaveKeepsTheForm(t *testing.T) {
	save := func(at string, opt memmap.SaveOptions) error {
		return memmap.SaveWith(context.Background(), at, steps(), opt)
	}
	in := func(name string) string { return filepath.Join(t.TempDir(), name) }
	isDir := func(at string) bool { return tensor.Must(os.Stat(at)).IsDir() }
	for _, name := range []string{"d", "d.tdz"} {
		for _, form := range []memmap.Container{memmap.Directory, memmap.Archive} {
			at := in(name)
			require.NoError(t, save(at, memmap.SaveOptions{Container: form}))
			require.NoError(t, save(at, memmap.SaveOptions{}), "it keeps the form")
			require.NoError(t, save(at, memmap.SaveOptions{Container: form}))
			require.Equal(t, form == memmap.Directory, isDir(at))
			requireSame(t, steps(), open(t, at).TensorDict)
			err := save(at, memmap.SaveOptions{Container: 3 - form})
			require.ErrorIs(t, err, fs.ErrExist)
			require.EqualError(t, err, "save "+at+": file already exists: the dictionary there has the form "+form.String()+", want "+(3-form).String()+": save elsewhere")
			require.ErrorIs(t, save(at, memmap.SaveOptions{NoReplace: true}), fs.ErrExist)
			require.Equal(t, []string{name}, names(t, filepath.Dir(at)), "nothing is left beside it")
		}
	}
	at := in("x.tdz")
	require.NoError(t, os.WriteFile(at, []byte("a letter"), 0o666))
	require.EqualError(t, save(at, memmap.SaveOptions{}), "save "+at+": not a saved dictionary: saving would replace a file of another kind: save elsewhere")
	require.ErrorIs(t, save(at, memmap.SaveOptions{Container: memmap.Archive}), memmap.ErrForeign)
	require.ErrorIs(t, save(at, memmap.SaveOptions{}), memmap.ErrForeign)
	require.ErrorIs(t, save(at, memmap.SaveOptions{Container: memmap.Directory}), memmap.ErrForeign)
	require.ErrorIs(t, save(in("d"), memmap.SaveOptions{Compress: true}), memmap.ErrUnsupported)
	require.ErrorIs(t, save(in("d"), memmap.SaveOptions{Container: 9}), memmap.ErrUnsupported)
	require.Equal(t, "a letter", string(tensor.Must(os.ReadFile(at))))
}

// TestArchiveOntoItself saves what was opened from an archive over it.
func TestArchiveOntoItself(t *testing.T) {
	for _, compress := range []bool{false, true} {
		file := savedArchive(t, steps())
		require.NoError(t, memmap.SaveWith(t.Context(), file, steps(), memmap.SaveOptions{Compress: compress}))
		ds := open(t, file)
		require.NoError(t, memmap.Save(file, ds.TensorDict))
		requireSame(t, steps(), ds.TensorDict)
		stale, err := ds.Stale()
		require.NoError(t, err)
		require.True(t, stale)
		next := tensor.Must(ds.Refresh())
		require.NotSame(t, ds, next)
		requireSame(t, steps(), next.TensorDict)
		require.Same(t, next, tensor.Must(next.Refresh()))
		require.NoError(t, next.Close())
		require.NoError(t, os.Remove(file))
		_, err = ds.Stale()
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

// packed returns a zip file of files, in this order; those whose names begin with "deflate:" are
// compressed.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i]}
		if name, ok := strings.CutPrefix(files[i], "deflate:"); ok {
			h.Name, h.Method = name, zip.Deflate
		}
		w := tensor.Must(z.CreateHeader(h))
		_, err := w.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// leafMeta is the meta.json of a dictionary of one leaf "x" of 8 bytes.
const leafMeta = `{"x":{"dtype":"torch.uint8","shape":[8]},"shape":[],"_type":"TensorDict"}`

// TestBrokenArchives opens and verifies what is no sound archive.
func TestBrokenArchives(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	inner := `{"d":{"type":"TensorDict"},"shape":[],"_type":"TensorDict"}`
	damaged := bytes.Replace(packed(t, "meta.json", leafMeta, "x.memmap", "12345678"), []byte("12345678"), []byte("12345679"), 1)
	tests := []struct {
		name string
		file []byte
		err  error
		text string // of Open; "" if it opens
	}{
		{"nothing", nil, memmap.ErrForeign, "not a saved dictionary: got a file of 0 bytes, want a directory or an archive"},
		{"a letter", []byte("Dear all"), memmap.ErrForeign, "not a saved dictionary: got a file of 8 bytes, want a directory or an archive"},
		{"a NumPy array", []byte("\x93NUMPY\x01\x00"), memmap.ErrForeign, "not a saved dictionary: got a file of 8 bytes, want a directory or an archive; it begins as a .npy file, which package npy opens"},
		{"a safetensors file", []byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), memmap.ErrForeign, "not a saved dictionary: got a file of 10 bytes, want a directory or an archive; it begins as a safetensors file, which package safetensors opens"},
		{"another zip file", packed(t, "a.txt", "a"), memmap.ErrForeign, `meta.json: missing: not a saved dictionary: the archive holds "a.txt"`},
		{"a folder in a zip file", packed(t, "d/meta.json", leafMeta), memmap.ErrForeign, `meta.json: missing: not a saved dictionary: the archive holds "d/meta.json"`},
		{"a short leaf", packed(t, "meta.json", leafMeta, "x.memmap", "1234567"), memmap.ErrCorrupt, "x.memmap: corrupt: got 7 bytes, want 8"},
		{"no leaf", packed(t, "meta.json", leafMeta), memmap.ErrCorrupt, "x.memmap: corrupt: got nothing, want a file"},
		{"a long leaf", packed(t, "meta.json", leafMeta, "x.memmap", "123456789"), nil, ""},
		{"no dictionary", packed(t, "meta.json", inner), memmap.ErrCorrupt, "d: corrupt: got nothing, want a directory"},
		{"no meta.json", packed(t, "meta.json", inner, "d/x.memmap", "1"), memmap.ErrCorrupt, "d/meta.json: corrupt: file does not exist"},
		{"an escape", packed(t, "meta.json", leafMeta, "../x.memmap", "12345678"), memmap.ErrCorrupt, ""},
		{"a name twice", packed(t, "meta.json", leafMeta, "x.memmap", "12345678", "x.memmap", "12345678"), memmap.ErrCorrupt, `x.memmap: corrupt: duplicate name`},
		{"a bomb", packed(t, "meta.json", strings.Replace(leafMeta, "8]", "1048576]", 1), "deflate:x.memmap", zeros), memmap.ErrUnsupported,
			"x.memmap: unsupported: got 1048576 bytes of compressed entries, want at most 1000000: raise MaxCopy"},
		{"a bomb of text", packed(t, "deflate:meta.json", strings.Repeat(" ", 1<<20)+leafMeta), memmap.ErrUnsupported,
			"meta.json: unsupported: got 1048649 bytes of compressed entries, want at most 1000000: raise MaxCopy"},
		{"compressed", packed(t, "deflate:meta.json", leafMeta, "deflate:x.memmap", "12345678"), nil, ""},
		{"changed", damaged, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.tdz")
			require.NoError(t, os.WriteFile(file, tt.file, 0o666))
			ds, err := memmap.OpenWith(file, memmap.OpenOptions{MaxCopy: 1_000_000})
			if tt.err == nil {
				require.NoError(t, err)
				require.NoError(t, ds.Close())
				return
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "open "+file+": "+tt.text)
			report, err := memmap.Verify(t.Context(), file, memmap.VerifyOptions{MaxCopy: 1_000_000})
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, "verify "+file+": "+tt.text)
			if report != nil {
				require.NotEmpty(t, report.Damage)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "a.tdz")
	require.NoError(t, os.WriteFile(file, damaged, 0o666))
	report, err := memmap.Verify(t.Context(), file, memmap.VerifyOptions{})
	require.ErrorContains(t, err, "verify "+file+": x.memmap: corrupt: got CRC-32 ")
	require.Equal(t, "x.memmap", report.Damage[0].File)
	require.Equal(t, -1, report.Damage[0].Block)
}

// TestCutArchives opens an archive that was cut at every byte near the bounds of its entries, and
// elsewhere.
func TestCutArchives(t *testing.T) {
	whole := tensor.Must(os.ReadFile(savedArchive(t, kinds(t, 3))))
	file := filepath.Join(t.TempDir(), "a.tdz")
	for n := range whole {
		require.NoError(t, os.WriteFile(file, whole[:n], 0o666))
		_, err := memmap.Open(file)
		require.True(t, errors.Is(err, memmap.ErrCorrupt) || n < 4 && errors.Is(err, memmap.ErrForeign), "%d bytes: %v", n, err)
		requireShort(t, err)
	}
	require.NoError(t, memmap.Save(file, kinds(t, 3)), "what is left of an archive may be replaced")
}

// TestForeignZips opens the directories of the golden files as zip files that another program
// packs: nothing is aligned, or all is compressed. They hold what the directories do.
func TestForeignZips(t *testing.T) {
	for _, folder := range tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "td*", "data"))) {
		for _, prefix := range []string{"", "deflate:"} {
			t.Run(filepath.Base(filepath.Dir(folder))+prefix, func(t *testing.T) {
				var files []string
				for name, text := range tree(t, folder) {
					files = append(files, prefix+name, text)
				}
				file := filepath.Join(t.TempDir(), "a.zip")
				require.NoError(t, os.WriteFile(file, packed(t, files...), 0o666))
				want, failed := memmap.Open(folder)
				got, err := memmap.Open(file)
				if failed != nil {
					require.ErrorIs(t, err, memmap.ErrUnsupported)
					require.EqualError(t, err, strings.Replace(failed.Error(), folder, file, 1))
					return
				}
				require.NoError(t, err)
				require.Equal(t, tree(t, saveAs(t, want.TensorDict)), tree(t, saveAs(t, got.TensorDict)))
				require.NoError(t, errors.Join(want.Close(), got.Close()))
				requireSound(t, file)
			})
		}
	}
}

// TestArchiveIsOneMapping reads all leaves of an archive, which another takes the place of: they
// take one mapping, and none after Close.
func TestArchiveIsOneMapping(t *testing.T) {
	td := tdict.New(2)
	for i := range 500 {
		require.NoError(t, td.Set(nestedkey.Of("x", strconv.Itoa(i)), counted(tensor.Int16, 2)))
	}
	file, before := savedArchive(t, td), settledMaps()
	ds := open(t, file)
	require.NoError(t, memmap.Save(file, steps()))
	requireSame(t, td, ds.TensorDict)
	require.Equal(t, before+1, mapping.Live())
	require.NoError(t, ds.CloseWait(t.Context()))
	require.Equal(t, before, mapping.Live())
	for _, v := range ds.Tensors() {
		require.ErrorIs(t, testkit.Err(v.Clone()), memmap.ErrClosed)
	}
}

// TestCompressedLeaves reads what was inflated: it is there as often as it is wanted, once, until
// Close, and a leaf that is damaged says so.
func TestCompressedLeaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.tdz")
	require.NoError(t, memmap.SaveWith(t.Context(), file, steps(), memmap.SaveOptions{Compress: true}))
	ds := open(t, file)
	s := tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("reward"))))
	require.Equal(t, &s[0], &tensor.Must(tensor.Of[int64](tensor.Must(ds.Tensor("reward"))))[0])
	require.ErrorIs(t, tensor.Must(ds.Tensor("reward")).SetIndex(tensor.Scalar[int64](0), ix.At(0)), tensor.ErrReadOnly)
	require.NoError(t, ds.Close())
	require.ErrorIs(t, testkit.Err(ds.Clone()), memmap.ErrClosed)

	b := packed(t, "meta.json", leafMeta, "deflate:x.memmap", "12345678")
	i := bytes.Index(b, []byte("x.memmap")) + len("x.memmap")
	b[i+3] ^= 1
	require.NoError(t, os.WriteFile(file, b, 0o666))
	ds = open(t, file)
	for range 2 {
		err := testkit.Err(ds.Clone())
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "read "+file+": x.memmap: corrupt: ")
	}
	_, err := memmap.Verify(t.Context(), file, memmap.VerifyOptions{})
	require.ErrorIs(t, err, memmap.ErrCorrupt)
}

// TestCopyListsWhatItCannotCopy copies pickled entries: all are named, and nothing is written.
func TestCopyListsWhatItCannotCopy(t *testing.T) {
	dir, to := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "a.tdz")
	write(t, dir, "meta.json", `{"a":{"type":"NonTensorData"},"b":{"type":"NonTensorData"},"x":{"dtype":"torch.int8","shape":[1]},"shape":[],"_type":"TensorDict"}`)
	for _, name := range []string{"a", "b"} {
		write(t, dir, name+"/meta.json", `{"_type":"NonTensorData"}`)
		write(t, dir, name+"/other.pickle", "pickle")
	}
	write(t, dir, "x.memmap", "x")
	err := memmap.Copy(t.Context(), dir, to, memmap.CopyOptions{})
	require.ErrorIs(t, err, memmap.ErrUnsupported)
	const text = "unsupported: entry %q, a NonTensorData, is pickled, and pickles are never executed: leave it out with SkipPickled"
	require.EqualError(t, err, "copy "+dir+": a/other.pickle: "+fmt.Sprintf(text, "a")+`; "b": b/other.pickle: `+fmt.Sprintf(text, "b"))
	require.NoFileExists(t, to)

	var done []int64
	opt := memmap.CopyOptions{Open: memmap.OpenOptions{SkipPickled: true, Writable: true}}
	opt.Save.Progress = func(n, total int64) { done = append(done, n, total) }
	require.NoError(t, memmap.Copy(t.Context(), dir, to, opt))
	require.Equal(t, []int64{1, 1}, done)
	require.Equal(t, 1, open(t, to).NumEntries())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, memmap.Copy(ctx, to, to+".tdz", memmap.CopyOptions{}), context.Canceled)
	require.NoFileExists(t, to+".tdz")
	require.ErrorIs(t, memmap.Copy(t.Context(), to+"x", to, memmap.CopyOptions{}), fs.ErrNotExist)
	require.ErrorIs(t, memmap.Copy(t.Context(), to, "", memmap.CopyOptions{}), fs.ErrInvalid)
}

// TestCopyKnowsAllNativeFields copies what a later version has written, and what a Writer has not
// finished.
func TestCopyKnowsAllNativeFields(t *testing.T) {
	dir, to := saveAs(t, kinds(t, 2)), filepath.Join(t.TempDir(), "a.tdz")
	later(t, filepath.Join(dir, "obs"))
	err := memmap.Copy(t.Context(), dir, to, memmap.CopyOptions{})
	require.EqualError(t, err, "copy "+dir+": obs/meta.json: unsupported: it has fields of a later version of this module, which a copy would lose")
	require.NoFileExists(t, to)

	log := filepath.Join(t.TempDir(), "log")
	w := tensor.Must(memmap.NewWriter(log, tensor.Must(steps().Index(ix.At(0))), memmap.WriterOptions{}))
	require.NoError(t, w.Append(steps()))
	require.NoError(t, w.Commit())
	require.NoError(t, memmap.Copy(t.Context(), log, to, memmap.CopyOptions{}))
	require.NoError(t, w.Close())
	requireSame(t, steps(), open(t, to).TensorDict)
	requireSound(t, to)
}

// FuzzArchive opens any file as an archive: it is refused with an error about it, or all of it can
// be read, or says what is wrong.
func FuzzArchive(f *testing.F) {
	for _, file := range tensor.Must(filepath.Glob(filepath.Join("..", "testdata", "golden", "tdz*", "*.tdz"))) {
		f.Add(tensor.Must(os.ReadFile(file)))
	}
	f.Add(packed(f, "meta.json", leafMeta, "x.memmap", "12345678"))
	f.Add(packed(f, "deflate:meta.json", leafMeta, "deflate:x.memmap", "12345678"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "a.tdz")
		require.NoError(t, os.WriteFile(file, text, 0o666))
		ds, err := memmap.OpenWith(file, memmap.OpenOptions{MaxCopy: 1 << 22})
		if err != nil {
			_, ok := errors.AsType[*memmap.DatasetError](err)
			require.True(t, ok, "unclassified error %v", err)
			return
		}
		defer ds.Close()
		for _, v := range ds.Leaves() {
			if r, ok := v.(*ragged.Tensor); ok {
				requireSoundRows(t, r)
			}
		}
		if _, err := ds.Clone(); err != nil {
			require.ErrorIs(t, err, memmap.ErrCorrupt)
		}
	})
}
