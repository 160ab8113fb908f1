package forms_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/interop/nrt"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/ragged/joint"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A writer is one way to write an output, for tests of all writers.
type writer struct {
	name string
	out  string // the name of the output
	// old makes the output that is replaced or changed.
	old func(t testing.TB, to string)
	// write writes the output from sources in a directory, see sources. It returns the error of
	// the writer.
	write func(to, from string) error
	// copies reports that permissions come from the source, if there is no old output.
	copies bool
	// changes reports that the writer needs an old output.
	changes bool
	// parts are the names of the datasets in the output; nil means that it is one.
	parts []string
}

const someRows = 6

// filled returns rows of which every element is v, for a form.
func filled(v int64, form string) *tdict.TensorDict {
	td := tdict.New(someRows)
	x := tensor.Must(tensor.Full(v, someRows))
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	switch form {
	case ".npy":
		must(td.Set("x", x))
	case ".nrt":
		layout := tensor.Must(ragged.NewLayout([]int{someRows}, []int64{0, 1, 2, 3, 4, 5, 6}))
		must(td.Set("r", tensor.Must(ragged.New(x, layout))))
	case "", ".tdz", ".tdc":
		must(td.Set("x", x))
		must(td.Set("n/y", tensor.Must(tensor.Full(v, someRows, 3))))
		layout := tensor.Must(ragged.NewLayout([]int{someRows}, []int64{0, 1, 2, 3, 4, 5, 6}))
		must(td.Set("n/r", tensor.Must(ragged.New(x, layout))))
	default:
		must(td.Set("x", x))
		must(td.Set("y", tensor.Must(tensor.Full(v, someRows))))
	}
	return td
}

// saveForm saves rows in the form of a name.
func saveForm(to string, td *tdict.TensorDict) error {
	switch filepath.Ext(to) {
	case ".npy":
		return npy.Save(to, tensor.Must(td.Tensor("x")))
	case ".npz":
		return npy.SaveDict(to, td)
	case ".safetensors":
		return safetensors.Save(to, td)
	case ".nrt":
		return nrt.Save(to, tensor.Must(joint.FromDict(td, nil)))
	case ".csv", ".jsonl":
		return forms.Convert(ctx, to, []string{to + ".in"}, forms.Options{Force: true})
	}
	return memmap.Save(to, td)
}

// sources makes the inputs of writers in a directory: in SUFFIX for each form, where in-SUFFIX is a
// directory with rows that the form can hold.
func sources(t testing.TB, dir string, v int64) {
	t.Helper()
	for _, f := range append(slices.Clone(all), ".tdc") {
		path := filepath.Join(dir, "in"+f)
		require.NoError(t, memmap.Save(filepath.Join(dir, "dir"+f+"-"), filled(v, f)))
		if f == ".csv" || f == ".jsonl" {
			require.NoError(t, forms.Convert(ctx, path, []string{filepath.Join(dir, "dir"+f+"-")}, forms.Options{Force: true}))
			continue
		}
		require.NoError(t, saveForm(path, filled(v, f)))
	}
}

// writers returns all writers, in all forms.
func writers() (list []writer) {
	add := func(w writer) { list = append(list, w) }
	force := forms.Options{Force: true}
	old := func(f string) func(t testing.TB, to string) {
		return func(t testing.TB, to string) {
			dir := filepath.Join(t.TempDir(), "old")
			require.NoError(t, memmap.Save(dir, filled(1, f)))
			require.NoError(t, forms.Convert(ctx, to, []string{dir}, force))
		}
	}
	chunks := func(f string) func(yield func(*tdict.TensorDict, error) bool) {
		return func(yield func(*tdict.TensorDict, error) bool) {
			for range 2 {
				if !yield(filled(2, f), nil) {
					return
				}
			}
		}
	}
	in := func(from, f string) string { return filepath.Join(from, "in"+f) }
	dir := func(from, f string) string { return filepath.Join(from, "dir"+f+"-") }
	for _, f := range append(slices.Clone(all), ".tdc") {
		out := "out" + f
		one := func(name string, copies bool, write func(to, from string) error) {
			add(writer{name: name, out: out, old: old(f), write: write, copies: copies})
		}
		one("Convert", true, func(to, from string) error { return forms.Convert(ctx, to, []string{in(from, f)}, force) })
		one("Convert of a directory", true, func(to, from string) error { return forms.Convert(ctx, to, []string{dir(from, f)}, force) })
		one("Convert of two", true, func(to, from string) error {
			return forms.Convert(ctx, to, []string{dir(from, f), dir(from, f)}, force)
		})
		if f != "" && f != ".tdz" && f != ".tdc" && f != ".nrt" && f != ".npy" {
			one("Convert of csv", true, func(to, from string) error { return forms.Convert(ctx, to, []string{in(from, ".csv")}, force) })
		}
		if f != ".npy" { // its Slice has no key x
			one("Slice of a list", true, func(to, from string) error {
				return forms.Slice(ctx, to, in(from, f), forms.SliceOptions{Options: force, Index: []ix.Index{ix.Take(4, 1)}})
			})
			one("Slice with Keep", true, func(to, from string) error {
				keep := func(chunk *tdict.TensorDict) (*tensor.Tensor, error) { return tensor.Full(true, chunk.Shape()[0]) }
				return forms.Slice(ctx, to, dir(from, f), forms.SliceOptions{Options: force, Keep: keep})
			})
		}
		counts := forms.SplitOptions{Options: force, Counts: []int{4, 2}, Names: []string{"a" + f, "b" + f}}
		add(writer{name: "Split", out: "parts" + f + "-", parts: counts.Names, copies: true, old: func(t testing.TB, to string) {
			d := filepath.Join(t.TempDir(), "old")
			require.NoError(t, memmap.Save(d, filled(1, f)))
			require.NoError(t, forms.Split(ctx, to, d, counts))
		}, write: func(to, from string) error { return forms.Split(ctx, to, dir(from, f), counts) }})
	}
	for _, f := range []string{"", ".tdz", ".tdc"} {
		out := "out" + f
		one := func(name string, copies bool, write func(to, from string) error) {
			add(writer{name: name, out: out, old: old(f), write: write, copies: copies})
		}
		one("Save", false, func(to, _ string) error { return memmap.Save(to, filled(2, f)) })
		one("SaveRows", false, func(to, _ string) error { return memmap.SaveRows(ctx, to, chunks(f), memmap.SaveOptions{}) })
		for _, of := range []string{"", ".tdz", ".tdc"} {
			one("Copy of in"+of, true, func(to, from string) error { return memmap.Copy(ctx, in(from, of), to, memmap.CopyOptions{}) })
		}
	}
	for _, f := range []string{".npy", ".npz", ".safetensors", ".nrt"} {
		add(writer{name: "Save", out: "out" + f, old: old(f), write: func(to, _ string) error { return saveForm(to, filled(2, f)) }})
	}
	fill := func(ds *memmap.Dataset) error {
		var failed []error
		for key, leaf := range ds.Leaves() {
			from := tensor.Must(filled(2, "").Get(key))
			switch leaf := leaf.(type) {
			case *tensor.Tensor:
				failed = append(failed, leaf.CopyFrom(from.(*tensor.Tensor)))
			case *ragged.Tensor:
				failed = append(failed, tensor.Must(leaf.Values()).CopyFrom(tensor.Must(from.(*ragged.Tensor).Values())))
			}
		}
		return errors.Join(failed...)
	}
	add(writer{name: "Create", out: "out", old: old(""), write: func(to, _ string) error {
		ds, err := memmap.Create(to, filled(2, ""), memmap.CreateOptions{Replace: true})
		if err != nil {
			return err
		}
		return errors.Join(fill(ds), ds.Close())
	}})
	row := func(v int64) *tdict.TensorDict {
		return tensor.Must(tensor.Must(filled(v, "").Index(ix.At(0))).Clone())
	}
	add(writer{name: "Writer", out: "out", write: func(to, _ string) error {
		w, err := memmap.NewWriter(to, row(2), memmap.WriterOptions{})
		if err != nil {
			return err
		}
		return errors.Join(w.Append(filled(2, "")), w.Commit(), w.Finish())
	}})
	for _, v := range []int64{1, 0} {
		add(writer{name: fmt.Sprintf("Writer that resumes %d rows", v*someRows), out: "out", changes: true, old: func(t testing.TB, to string) {
			w := tensor.Must(memmap.NewWriter(to, row(1), memmap.WriterOptions{}))
			if v > 0 {
				require.NoError(t, w.Append(filled(1, "")))
			}
			require.NoError(t, w.Finish())
		}, write: func(to, _ string) error {
			w, err := memmap.NewWriter(to, row(2), memmap.WriterOptions{Resume: true})
			if err != nil {
				return err
			}
			return errors.Join(w.Append(filled(2, "")), w.Commit(), w.Finish())
		}})
	}
	for name, leaf := range map[string]tdict.Leaf{
		"z": tensor.Must(tensor.Full(int64(2), someRows)), "n/z": tensor.Must(tensor.Full(int64(2), someRows)), "m/z": tensor.Must(tensor.Full(int64(2), someRows)),
		"data": tensor.Must(tdict.NewData("secret", someRows)), "rows": tensor.Must(tdict.Get[*ragged.Tensor](filled(2, ""), "n/r")),
	} {
		add(writer{name: "AddLeaf of " + name, out: "out", changes: true, old: old(""), write: func(to, _ string) error {
			ds, err := memmap.OpenWith(to, memmap.OpenOptions{Writable: true})
			if err != nil {
				return err
			}
			key := nestedkey.Key(name)
			err = ds.AddLeaf(key, leaf)
			_ = ds.Close() // its errors are about later writes
			return err
		}})
	}
	member := func(v int64) *tdict.TensorDict { return filled(v, "") }
	add(writer{name: "AppendMember", out: "out", changes: true, old: func(t testing.TB, to string) {
		require.NoError(t, memmap.Save(to, tensor.Must(tdict.LazyStack([]*tdict.TensorDict{member(1), member(1)}, 0))))
	}, write: func(to, _ string) error { return memmap.AppendMember(to, member(2)) }})
	return list
}

// walkFiles calls fn with the path and the description of everything at and below a path.
func walkFiles(t testing.TB, top string, fn func(path string, info fs.FileInfo)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fn(path, info)
		}
		return err
	}))
}

// setModes sets the permissions of all directories and files at and below a path.
func setModes(t testing.TB, top string, dir, file fs.FileMode) {
	t.Helper()
	walkFiles(t, top, func(path string, info fs.FileInfo) {
		mode := file
		if info.IsDir() {
			mode = dir
		}
		require.NoError(t, os.Chmod(path, mode))
	})
}
