package forms_test

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// damage changes one element of each leaf of value 2 in a file, or in all files of a directory that
// have elements. It reports whether there was one.
func damage(t testing.TB, top string) (some bool) {
	t.Helper()
	element := binary.LittleEndian.AppendUint64(nil, 2)
	leaf := bytes.Repeat(element, someRows)
	walkFiles(t, top, func(path string, info fs.FileInfo) {
		if !info.Mode().IsRegular() || filepath.Ext(path) == ".json" || strings.HasPrefix(filepath.Base(path), "offsets") {
			return
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for at := 0; ; {
			found := bytes.Index(text[at:], leaf)
			if found < 0 {
				break
			}
			at += found
			text[at+4*8] ^= 0x40 // of row 4, or of row 1
			text[at+1*8] ^= 0x40
			some = true
			at += len(leaf)
		}
		require.NoError(t, os.WriteFile(path, text, 0o666))
	})
	return some
}

// TestDamageIsNotCopied damages all inputs that have checksums. Each writer that reads one returns
// ErrCorrupt, and writes nothing.
func TestDamageIsNotCopied(t *testing.T) {
	n := 0
	for _, w := range writers() {
		if !w.copies {
			continue
		}
		ext := filepath.Ext(strings.TrimSuffix(w.out, "-"))
		unsummed := slices.Contains([]string{".npy", ".safetensors", ".nrt", ".csv", ".jsonl"}, ext)
		if w.name == "Convert of csv" || unsummed && (w.name == "Convert" || w.name == "Slice of a list") {
			continue
		}
		dir := testkit.TempDir(t)
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, w.out)
		require.NoError(t, os.Mkdir(from, 0o777))
		sources(t, from, 2)
		for _, e := range tensor.Must(os.ReadDir(from)) {
			require.True(t, damage(t, filepath.Join(from, e.Name())) || filepath.Ext(e.Name()) == ".csv" || filepath.Ext(e.Name()) == ".jsonl", e.Name())
		}
		err := w.write(to, from)
		require.ErrorIs(t, err, memmap.ErrCorrupt, "%s %s", w.name, w.out)
		if !strings.Contains(w.out, ".npz") || strings.Contains(w.name, "directory") {
			require.Contains(t, err.Error(), "CRC-32", "%s %s", w.name, w.out)
		}
		_, err = os.Lstat(to)
		require.ErrorIs(t, err, fs.ErrNotExist)
		n++
	}
	t.Logf("%d writers", n)
}

// TestSeal changes elements in place, as Python does: copies refuse them. With SkipSums they are
// copied, and after Seal they are right.
func TestSeal(t *testing.T) {
	for _, f := range []string{"", ".tdz", ".tdc"} {
		dir := testkit.TempDir(t)
		path, to := filepath.Join(dir, "in"+f), filepath.Join(dir, "out")
		require.NoError(t, memmap.Save(path, filled(2, "")))
		require.True(t, damage(t, path))
		changed := read(t, path, nil)
		require.False(t, changed.Equal(filled(2, "")))
		_, err := memmap.Verify(ctx, path, memmap.VerifyOptions{})
		require.ErrorIs(t, err, memmap.ErrCorrupt)
		require.ErrorContains(t, err, "Seal the dataset if the change is right")
		copies := map[string]func(skip bool) error{
			"Copy": func(skip bool) error { return memmap.Copy(ctx, path, to, memmap.CopyOptions{SkipSums: skip}) },
			"Save": func(skip bool) error {
				ds := tensor.Must(memmap.Open(path))
				defer ds.Close()
				return memmap.SaveWith(ctx, to, ds.TensorDict, memmap.SaveOptions{SkipSums: skip})
			},
			"SaveRows": func(skip bool) error {
				ds := tensor.Must(memmap.Open(path))
				defer ds.Close()
				chunks := func(yield func(*tdict.TensorDict, error) bool) { yield(ds.TensorDict, nil) }
				return memmap.SaveRows(ctx, to, chunks, memmap.SaveOptions{SkipSums: skip})
			},
			"Convert": func(skip bool) error {
				return forms.Convert(ctx, to, []string{path}, forms.Options{SkipSums: skip, Force: true})
			},
			"Convert of two": func(skip bool) error {
				return forms.Convert(ctx, to, []string{path, path}, forms.Options{SkipSums: skip, Force: true})
			},
			"Slice": func(skip bool) error {
				return forms.Slice(ctx, to, path, forms.SliceOptions{Options: forms.Options{SkipSums: skip, Force: true, Select: forms.Selection{Drop: []nestedkey.Key{"n/r"}}}})
			},
		}
		for name, fn := range copies {
			err := fn(false)
			require.ErrorIs(t, err, memmap.ErrCorrupt, "%s of %s", name, f)
			require.ErrorContains(t, err, "Seal the dataset if the change is right", "%s of %s", name, f)
			require.NoError(t, fn(true), "%s of %s", name, f)
			_, err = memmap.Verify(ctx, to, memmap.VerifyOptions{})
			require.NoError(t, err)
			require.NoError(t, os.RemoveAll(to))
		}
		require.NoError(t, memmap.Seal(ctx, path))
		require.True(t, changed.Equal(read(t, path, nil)))
		report, err := memmap.Verify(ctx, path, memmap.VerifyOptions{})
		require.NoError(t, err)
		require.Empty(t, report.Unsummed)
		for name, fn := range copies {
			require.NoError(t, fn(false), "%s of %s", name, f)
			require.NoError(t, os.RemoveAll(to))
		}
	}
}

// TestDamageIsNotAdded adds leaves, rows and members of a damaged dataset to sound ones.
func TestDamageIsNotAdded(t *testing.T) {
	dir := testkit.TempDir(t)
	damaged, to := filepath.Join(dir, "damaged"), filepath.Join(dir, "to")
	require.NoError(t, memmap.Save(damaged, filled(2, "")))
	require.True(t, damage(t, damaged))
	for name, add := range map[string]func(ds *memmap.Dataset) error{
		"a leaf": func(ds *memmap.Dataset) error {
			out := tensor.Must(memmap.OpenWith(to, memmap.OpenOptions{Writable: true}))
			defer out.Close()
			return out.AddLeaf("new", tensor.Must(ds.Tensor("n/y")))
		},
		"a view of a leaf": func(ds *memmap.Dataset) error {
			out := tensor.Must(memmap.OpenWith(to, memmap.OpenOptions{Writable: true}))
			defer out.Close()
			return out.AddLeaf("new", tensor.Must(tensor.Must(ds.Tensor("n/y")).Transpose(1, 1)))
		},
		"ragged rows": func(ds *memmap.Dataset) error {
			out := tensor.Must(memmap.OpenWith(to, memmap.OpenOptions{Writable: true}))
			defer out.Close()
			return out.AddLeaf("new", tensor.Must(tdict.Get[*ragged.Tensor](ds.TensorDict, "n/r")))
		},
		"a member": func(ds *memmap.Dataset) error {
			stack := to + "-stack"
			defer os.RemoveAll(stack)
			if err := memmap.Save(stack, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{filled(1, "")}, 0))); err != nil {
				return err
			}
			return memmap.AppendMember(stack, ds.TensorDict)
		},
	} {
		require.NoError(t, memmap.Save(to, filled(1, "")))
		ds := tensor.Must(memmap.Open(damaged))
		require.ErrorIs(t, add(ds), memmap.ErrCorrupt, name)
		require.NoError(t, ds.Close())
		require.True(t, filled(1, "").Equal(read(t, to, nil)), name)
		require.NoError(t, os.RemoveAll(to))
	}
}

// TestDamageIsNotAppended appends rows of a damaged dataset.
func TestDamageIsNotAppended(t *testing.T) {
	dir := testkit.TempDir(t)
	damaged, to := filepath.Join(dir, "damaged"), filepath.Join(dir, "to")
	require.NoError(t, memmap.Save(damaged, filled(2, "")))
	require.True(t, damage(t, damaged))
	w := tensor.Must(memmap.NewWriter(to, tensor.Must(tensor.Must(filled(1, "").Index(ix.At(0))).Clone()), memmap.WriterOptions{}))
	ds := tensor.Must(memmap.Open(damaged))
	require.ErrorIs(t, w.Append(ds.TensorDict), memmap.ErrCorrupt)
	require.NoError(t, ds.Close())
	require.NoError(t, w.Close())
}

// TestDamagedNpz compares the CRC-32 of each member when it is first used.
func TestDamagedNpz(t *testing.T) {
	path := filepath.Join(testkit.TempDir(t), "a.npz")
	require.NoError(t, npy.SaveDict(path, filled(2, ".npz")))
	report, err := npy.Verify(ctx, path)
	require.NoError(t, err)
	require.Equal(t, 2, report.Members)
	require.True(t, damage(t, path))
	d := tensor.Must(npy.OpenDict(path))
	for _, key := range []nestedkey.Key{"x", "y"} {
		for range 2 {
			_, err := tensor.Must(d.Tensor(key)).Clone()
			require.ErrorIs(t, err, npy.ErrCorrupt)
			require.ErrorContains(t, err, string(key)+`.npy": corrupt: got CRC-32 `)
		}
		_, err := tensor.Of[int64](tensor.Must(d.Tensor(key)))
		require.ErrorIs(t, err, npy.ErrCorrupt)
	}
	require.NoError(t, d.Close())
	report, err = npy.Verify(ctx, path)
	require.ErrorIs(t, err, npy.ErrCorrupt)
	require.Len(t, report.Damage, 2)
	d = tensor.Must(npy.OpenDictWith(path, npy.DictOptions{SkipSums: true}))
	_, err = tensor.Must(d.Tensor("x")).Clone()
	require.NoError(t, err)
	require.NoError(t, d.Close())
}

// TestInvalidBools has a byte of 5 in a leaf of bools, in each form that is mapped: it is not
// copied to any form, nor by any writer, and Verify finds it.
func TestInvalidBools(t *testing.T) {
	for _, f := range []string{"", ".tdz", ".tdc", ".npy", ".npz", ".safetensors"} {
		for _, to := range []string{"out", "out.tdz", "out.tdc", "out.npy", "out.npz", "out.safetensors", "out.csv", "out.jsonl"} {
			dir := testkit.TempDir(t)
			from, to := filepath.Join(dir, "in"+f), filepath.Join(dir, to)
			td := dict(t, []int{8}, tdict.Entries{"x": tensor.Vector(true, false, true, true, false, true, true, true)})
			require.NoError(t, saveForm(from, td))
			walkFiles(t, from, func(path string, info fs.FileInfo) {
				if info.IsDir() {
					return
				}
				text := tensor.Must(os.ReadFile(path))
				if at := bytes.Index(text, []byte{1, 0, 1, 1, 0, 1, 1, 1}); at >= 0 {
					text[at+3] = 5
					require.NoError(t, os.WriteFile(path, text, 0o666))
				}
			})
			opt := forms.Options{SkipSums: true}
			for name, err := range map[string]error{
				"Convert":    forms.Convert(ctx, to, []string{from}, opt),
				"two inputs": forms.Convert(ctx, to, []string{from, from}, opt),
				"Slice":      forms.Slice(ctx, to, from, forms.SliceOptions{Options: opt, Index: []ix.Index{ix.Take(3, 4)}}),
				"Split":      forms.Split(ctx, to, from, forms.SplitOptions{Options: opt, Counts: []int{8}, Names: []string{"a" + filepath.Ext(to)}}),
			} {
				if name == "Split" && filepath.Ext(to) != "" {
					continue // no name of a directory
				}
				require.ErrorIs(t, err, memmap.ErrCorrupt, "%s of %s to %s", name, from, to)
				require.ErrorContains(t, err, "got byte 5 for", "%s of %s to %s", name, from, to)
			}
			_, err := os.Lstat(to)
			require.ErrorIs(t, err, fs.ErrNotExist)
			if f == "" {
				require.NoError(t, memmap.Seal(ctx, from))
			}
			if f == "" || f == ".tdz" || f == ".tdc" {
				report, err := memmap.Verify(ctx, from, memmap.VerifyOptions{})
				require.ErrorIs(t, err, memmap.ErrCorrupt)
				require.Contains(t, report.Damage[len(report.Damage)-1].String(), `"x": x`)
				require.Contains(t, report.Damage[len(report.Damage)-1].String(), "got byte 5 for bool element 3, want 0 or 1")
			}
		}
	}
}
