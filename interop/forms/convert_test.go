package forms_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var ctx = context.Background()

// all are the forms, by the suffixes of names.
var all = []string{"", ".tdz", ".npy", ".npz", ".safetensors", ".nrt", ".csv", ".jsonl"}

// dict returns a dictionary of entries.
func dict(t testing.TB, batch []int, entries tdict.Entries) *tdict.TensorDict {
	t.Helper()
	td, err := tdict.FromMap(batch, entries)
	require.NoError(t, err)
	return td
}

// texts returns rows of text.
func texts(t testing.TB, rows ...string) *ragged.Tensor {
	t.Helper()
	x, err := ragged.FromStrings(rows)
	require.NoError(t, err)
	return x
}

// lists returns rows of numbers.
func lists(t testing.TB, rows ...[]int64) *ragged.Tensor {
	t.Helper()
	x, err := ragged.From[int64](rows)
	require.NoError(t, err)
	return x
}

// saved saves a dictionary in a directory, and returns its path.
func saved(t testing.TB, td *tdict.TensorDict) string {
	t.Helper()
	path := filepath.Join(testkit.TempDir(t), "in")
	require.NoError(t, memmap.Save(path, td))
	return path
}

// read returns a copy of a dataset.
func read(t testing.TB, path string, schema tdict.Schema) *tdict.TensorDict {
	t.Helper()
	in, err := forms.Open(path, forms.OpenOptions{Schema: schema})
	require.NoError(t, err)
	defer in.Close()
	if in.Dict != nil {
		td, err := in.Dict.Clone()
		require.NoError(t, err)
		return td
	}
	var rows []*tdict.TensorDict
	for chunk, err := range in.Chunks(ctx) {
		require.NoError(t, err)
		chunk, err = chunk.Clone()
		require.NoError(t, err)
		rows = append(rows, chunk)
	}
	require.Len(t, rows, 1, "the tests have one chunk")
	return rows[0]
}

// litter fails the test if a directory holds other names.
func litter(t testing.TB, dir string, names ...string) {
	t.Helper()
	found, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, entry := range found {
		got = append(got, entry.Name())
	}
	require.ElementsMatch(t, names, got)
}

// A specimen is a dictionary, and what each form keeps of it.
type specimen struct {
	name string
	td   *tdict.TensorDict
	lost map[string]string // losses by the form, "" for none; a form that is absent refuses it otherwise
}

func specimens(t testing.TB) []specimen {
	numbers := tensor.Vector[float32](1, 2.5, -3)
	ids := tensor.Vector[int64](7, 8, 9)
	grid := tensor.Must(tensor.From([]int64{1, 2, 3, 4, 5, 6}, 3, 2))
	mask := tensor.Vector(true, false, true)
	partial := tensor.Vector[int64](7, 0, 9)
	same, err := tdict.NewData("x", 3)
	require.NoError(t, err)
	named := dict(t, []int{3}, tdict.Entries{"x": ids})
	require.NoError(t, named.SetNames("time"))
	none := map[string]string{"": "", ".tdz": "", ".npy": "", ".npz": "", ".safetensors": "", ".nrt": "", ".csv": "", ".jsonl": ""}
	but := func(changes map[string]string) map[string]string {
		out := map[string]string{}
		for form, lost := range none {
			out[form] = lost
		}
		for form, lost := range changes {
			if out[form] = lost; lost == "refused" {
				delete(out, form)
			}
		}
		return out
	}
	return []specimen{
		{"one leaf", dict(t, []int{3}, tdict.Entries{forms.ArrayKey: ids}), none},
		{"two leaves", dict(t, []int{3}, tdict.Entries{"a": ids, "b": numbers}), but(map[string]string{".npy": "refused"})},
		{"no rows", dict(t, []int{0}, tdict.Entries{forms.ArrayKey: tensor.Must(tensor.New(tensor.Int64, 0))}), none},
		{"features", dict(t, []int{3}, tdict.Entries{"x": grid}), but(map[string]string{".nrt": `"x": dims [2]`})},
		{"two batch dims", dict(t, []int{3, 2}, tdict.Entries{"x": grid}), but(map[string]string{
			".npy": "batch shape [3 2], reads back as [3]", ".npz": "batch shape [3 2], reads back as [3]",
			".nrt": `"x": dims [2]; batch shape [3 2], reads back as [3]`, ".csv": "batch shape [3 2], reads back as [3]", ".jsonl": "batch shape [3 2], reads back as [3]",
		})},
		{"nested", dict(t, []int{3}, tdict.Entries{"a/b": ids, "a/c": ids}), but(map[string]string{".npy": "refused", ".nrt": `"a/b": a nested key; "a/c": a nested key`})},
		{"text", dict(t, []int{3}, tdict.Entries{"s": texts(t, "ä", "", "b c")}), but(map[string]string{".npy": `"s": text`, ".npz": `"s": text`, ".safetensors": `"s": text`})},
		{"ragged", dict(t, []int{3}, tdict.Entries{"r": lists(t, []int64{1}, nil, []int64{2, 3})}), but(map[string]string{".npy": `"r": ragged`, ".npz": `"r": ragged`, ".safetensors": `"r": ragged`, ".csv": `"r": ragged`})},
		{"two layouts", dict(t, []int{3}, tdict.Entries{"r": lists(t, []int64{1}, nil, []int64{2, 3}), "q": lists(t, nil, nil, []int64{2, 3}), "x": ids}), but(map[string]string{
			".npy": "both", ".npz": "both", ".safetensors": "both", ".csv": "both", ".nrt": "lengths differ from the first ragged leaf's",
		})},
		{"a mask", dict(t, []int{3}, tdict.Entries{"x": partial, "x_mask": mask}), but(map[string]string{".npy": "refused"})},
		{"a mask of text", dict(t, []int{3}, tdict.Entries{"s": texts(t, "a", "", "NA"), "s_mask": mask, "x": ids}), but(map[string]string{".npy": `"s": text`, ".npz": `"s": text`, ".safetensors": `"s": text`})},
		{"data", dict(t, []int{3}, tdict.Entries{"d": same, "x": ids}), but(map[string]string{".npy": `"d": data`, ".npz": `"d": data`, ".safetensors": `"d": data`, ".nrt": `"d": data`})},
		{"names of dims", named, but(map[string]string{".npy": `names of dims ["time"]`, ".npz": `names of dims ["time"]`, ".nrt": `names of dims ["time"]`, ".csv": `names of dims ["time"]`, ".jsonl": `names of dims ["time"]`})},
		{"an empty dictionary", dict(t, []int{3}, tdict.Entries{"e": tdict.New(3), "x": ids}), but(map[string]string{".npy": `"e": an empty dictionary`, ".npz": `"e": an empty dictionary`, ".nrt": `"e": an empty dictionary`, ".csv": `"e": an empty dictionary`})},
		{"a dictionary with a dim of its own", dict(t, []int{3}, tdict.Entries{"e": dict(t, []int{3, 2}, tdict.Entries{"x": grid})}), but(map[string]string{
			".npy": `"e": separate batch shape [3 2]`, ".npz": `"e": separate batch shape [3 2]`, ".nrt": "both", ".csv": `"e": separate batch shape [3 2]`, ".jsonl": `"e": separate batch shape [3 2]`,
		})},
		{"complex128", dict(t, []int{3}, tdict.Entries{"x": tensor.Vector[complex128](1, 2i, 3)}), but(map[string]string{".safetensors": `"x": complex128`, ".nrt": `"x": complex128`})},
		{"a dot in a key", dict(t, []int{3}, tdict.Entries{"a.b": ids}), but(map[string]string{".safetensors": `"a.b": a dot in a key reads back as a nested key`})},
	}
}

// ofTable returns a schema for a table, and nil for another form.
func ofTable(suffix string, schema tdict.Schema) tdict.Schema {
	if suffix != ".csv" && suffix != ".jsonl" {
		return nil
	}
	return schema
}

// TestRoundTrips converts each specimen into each form and back: it is equal, or refused with a
// list, and then the rest is equal.
func TestRoundTrips(t *testing.T) {
	for _, s := range specimens(t) {
		in := saved(t, s.td)
		opened, err := forms.Open(in, forms.OpenOptions{})
		require.NoError(t, err)
		for _, suffix := range all {
			t.Run(s.name+" in "+fmt.Sprint(forms.For("x"+suffix)), func(t *testing.T) {
				dir := testkit.TempDir(t)
				out, back := filepath.Join(dir, "out"+suffix), filepath.Join(dir, "back")
				opt := forms.Options{Open: forms.OpenOptions{Schema: ofTable(suffix, opened.Schema)}, NoSync: true}
				err := forms.Convert(ctx, out, []string{in}, opt)
				want, carried := s.lost[suffix]
				switch {
				case !carried:
					require.ErrorContains(t, err, "want one")
					litter(t, dir)
					return
				case want != "":
					var loss *forms.LossError
					require.ErrorIs(t, err, forms.ErrLoss)
					require.ErrorAs(t, err, &loss)
					require.Equal(t, opened.Losses(loss.Form), loss.Losses)
					if want != "both" {
						require.ErrorContains(t, err, want)
					}
					litter(t, dir)
					return
				}
				require.NoError(t, err)
				require.NoError(t, forms.Convert(ctx, back, []string{out}, opt))
				litter(t, dir, "out"+suffix, "back")
				got := read(t, back, nil)
				if suffix == ".npy" {
					for key := range s.td.Leaves() {
						require.NoError(t, got.Rename(forms.ArrayKey, key))
					}
				}
				if (suffix == ".csv" || suffix == ".jsonl") && got.Has("d") { // data comes back as text
					require.NoError(t, got.Set("d", tensor.Must(tdict.DataFrom(tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](got, "d")))), 3))))
				}
				text, err := s.td.Diff(got)
				require.NoError(t, err)
				require.Empty(t, text)
				require.Equal(t, s.td.Names(), got.Names())
			})
		}
	}
}

// TestPairs converts one dataset through every pair of forms.
func TestPairs(t *testing.T) {
	td := dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](3, 1, 2)})
	in := saved(t, td)
	dir := testkit.TempDir(t)
	for i, a := range all {
		first := filepath.Join(dir, fmt.Sprint("a", i)+a)
		require.NoError(t, forms.Convert(ctx, first, []string{in}, forms.Options{NoSync: true}))
		for j, b := range all {
			second := filepath.Join(dir, fmt.Sprint("b", i, j)+b)
			require.NoError(t, forms.Convert(ctx, second, []string{first}, forms.Options{NoSync: true}))
			require.True(t, td.Equal(read(t, second, nil)), "%s to %s", a, b)
			both := filepath.Join(dir, fmt.Sprint("c", i, j)+b)
			require.NoError(t, forms.Convert(ctx, both, []string{second, first}, forms.Options{NoSync: true}))
			got, err := tdict.Slice[int64](read(t, both, nil), forms.ArrayKey)
			require.NoError(t, err)
			require.Equal(t, []int64{3, 1, 2, 3, 1, 2}, got, "%s and %s to %s", b, a, b)
		}
	}
}

// TestLossy leaves out what a form cannot hold.
func TestLossy(t *testing.T) {
	for _, s := range specimens(t) {
		in := saved(t, s.td)
		for suffix, lost := range s.lost {
			if lost == "" || lost == "both" || suffix == ".npy" {
				continue
			}
			t.Run(s.name+suffix, func(t *testing.T) {
				out := filepath.Join(testkit.TempDir(t), "out"+suffix)
				err := forms.Convert(ctx, out, []string{in}, forms.Options{Lossy: true, NoSync: true})
				if err != nil { // nothing is left
					require.NotErrorIs(t, err, forms.ErrLoss)
					return
				}
				got := read(t, out, nil)
				for key := range got.Leaves() {
					require.True(t, s.td.Has(key) || suffix == ".csv" && s.td.Has(nestedkey.Key(key.Name())) || strings.Contains(lost, "a dot"), "%s", key)
				}
			})
		}
	}
}

// TestConvertRefusals has outputs and inputs that Convert refuses.
func TestConvertRefusals(t *testing.T) {
	td := dict(t, []int{3}, tdict.Entries{"x": tensor.Vector[int64](1, 2, 3)})
	tests := []struct {
		name string
		to   string
		from []string
		opt  forms.Options
		want error
	}{
		{"the input", "in", []string{"in"}, forms.Options{Force: true}, forms.ErrOverlap},
		{"the input by a link", "link", []string{"in"}, forms.Options{Force: true}, forms.ErrOverlap},
		{"the input by another name", "hard.csv", []string{"b.csv"}, forms.Options{Force: true}, forms.ErrOverlap},
		{"within the input", "in/out.csv", []string{"in"}, forms.Options{}, forms.ErrOverlap},
		{"within the input by a link", "link/out.csv", []string{"in"}, forms.Options{}, forms.ErrOverlap},
		{"around the input", ".", []string{"in"}, forms.Options{Form: forms.Directory, Force: true}, forms.ErrOverlap},
		{"a second input", "b.csv", []string{"in", "b.csv"}, forms.Options{Force: true}, forms.ErrOverlap},
		{"what exists", "other", []string{"in"}, forms.Options{}, fs.ErrExist},
		{"a file that exists", "b.csv", []string{"in"}, forms.Options{}, fs.ErrExist},
		{"an empty name", "", []string{"in"}, forms.Options{}, fs.ErrInvalid},
		{"a wrong suffix", "out.zip", []string{"in"}, forms.Options{}, forms.ErrForm},
		{"an empty suffix", "out.", []string{"in"}, forms.Options{}, forms.ErrForm},
		{"a directory that is not there", "no/out.csv", []string{"in"}, forms.Options{}, fs.ErrNotExist},
		{"a writer at work", "growing", []string{"in"}, forms.Options{Force: true}, memmap.ErrBusy},
		{"in a dataset with a writer at work", "growing/x.csv", []string{"in"}, forms.Options{}, memmap.ErrBusy},
		{"no input", "out", nil, forms.Options{}, tdict.ErrMissing},
		{"an input that is not there", "out", []string{"none"}, forms.Options{}, fs.ErrNotExist},
		{"a second input that is not there", "out", []string{"in", "none"}, forms.Options{}, fs.ErrNotExist},
		{"an input of no form", "out", []string{"odd.bin"}, forms.Options{}, forms.ErrForm},
		{"other dtypes", "out", []string{"in", "other"}, forms.Options{}, tdict.ErrSchema},
		{"other keys", "out", []string{"in", "b.csv"}, forms.Options{}, tdict.ErrSchema},
		{"other names of dims", "out", []string{"in", "named"}, forms.Options{}, tdict.ErrSchema},
		{"an input without rows, of several", "out", []string{"in", "scalar"}, forms.Options{}, shapeops.ErrDim},
		{"a schema, and no table", "out.npz", []string{"in"}, forms.Options{Open: forms.OpenOptions{Schema: tdict.SchemaOf(td)}}, fs.ErrInvalid},
		{"a pipe", "other", []string{os.DevNull}, forms.Options{}, forms.ErrForm},
		{"a pipe of a given form", "other", []string{os.DevNull}, forms.Options{Open: forms.OpenOptions{Form: forms.CSV}}, forms.ErrForm},
		{"an input without rows, as a table", "out.csv", []string{"scalar"}, forms.Options{}, shapeops.ErrDim},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			at := func(name string) string {
				if name == "" || filepath.IsAbs(name) {
					return name
				}
				return dir + "/" + name
			}
			require.NoError(t, memmap.Save(at("in"), td))
			require.NoError(t, memmap.Save(at("other"), dict(t, []int{1}, tdict.Entries{"x": tensor.Vector[float32](1)})))
			named := dict(t, []int{1}, tdict.Entries{"x": tensor.Vector[int64](1)})
			require.NoError(t, named.SetNames("time"))
			require.NoError(t, memmap.Save(at("named"), named))
			require.NoError(t, memmap.Save(at("scalar"), dict(t, nil, tdict.Entries{"x": tensor.Vector[int64](1)})))
			require.NoError(t, os.Symlink("in", at("link")))
			require.NoError(t, os.WriteFile(at("b.csv"), []byte("y\n1\n"), 0o666))
			require.NoError(t, os.Link(at("b.csv"), at("hard.csv")))
			require.NoError(t, os.WriteFile(at("odd.bin"), []byte("?"), 0o666))
			w, err := memmap.NewWriter(at("growing"), dict(t, nil, tdict.Entries{"x": tensor.Must(tensor.New(tensor.Int64))}), memmap.WriterOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Commit())
			defer w.Close()
			var from []string
			for _, name := range test.from {
				from = append(from, at(name))
			}
			err = forms.Convert(ctx, at(test.to), from, test.opt)
			require.ErrorIs(t, err, test.want)
			litter(t, dir, "in", "other", "named", "scalar", "link", "b.csv", "hard.csv", "odd.bin", "growing")
			got := read(t, at("in"), nil)
			require.True(t, td.Equal(got))
		})
	}
}

// TestForce replaces what is there.
func TestForce(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](1, 2, 3)}))
	for _, suffix := range all {
		dir := testkit.TempDir(t)
		out := filepath.Join(dir, "out"+suffix)
		require.NoError(t, forms.Convert(ctx, out, []string{in, in}, forms.Options{}))
		require.ErrorIs(t, forms.Convert(ctx, out, []string{in}, forms.Options{}), fs.ErrExist)
		require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{Force: true}))
		require.Equal(t, []int{3}, []int(read(t, out, nil).Shape()))
		litter(t, dir, "out"+suffix)
	}
}

// TestCancelled ends at the first chunk, and leaves nothing.
func TestCancelled(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{forms.ArrayKey: tensor.Vector[int64](1, 2, 3)}))
	for _, suffix := range all {
		for _, from := range [][]string{{in}, {in, in}} {
			dir := testkit.TempDir(t)
			ended, cancel := context.WithCancel(ctx)
			cancel()
			err := forms.Convert(ended, filepath.Join(dir, "out"+suffix), from, forms.Options{})
			require.ErrorIs(t, err, context.Canceled, suffix)
			litter(t, dir)
		}
	}
}

// TestProgress ends with all bytes, where they are known.
func TestProgress(t *testing.T) {
	in := saved(t, dict(t, []int{3}, tdict.Entries{"x": tensor.Vector[int64](1, 2, 3)}))
	table := filepath.Join(testkit.TempDir(t), "in.csv")
	require.NoError(t, os.WriteFile(table, []byte("x\n1\n2\n"), 0o666))
	for _, test := range []struct {
		name, to string
		from     []string
		want     int64
	}{
		{"a copy", "out", []string{in}, 24}, {"a table that is written", "out.csv", []string{in}, 24},
		{"a file", "out.npz", []string{in}, 24}, {"a table that is read", "out", []string{table}, 6}, {"several", "out.npz", []string{in, table}, 30},
	} {
		var done, total int64
		opt := forms.Options{Progress: func(d, all int64) { done, total = d, all }}
		require.NoError(t, forms.Convert(ctx, filepath.Join(testkit.TempDir(t), test.to), test.from, opt), test.name)
		require.Equal(t, []int64{test.want, test.want}, []int64{done, total}, test.name)
	}
}

// TestSchemaOfSeveralTables reads all tables with one schema, whatever the first ones hold.
func TestSchemaOfSeveralTables(t *testing.T) {
	for _, test := range []struct{ name, a, b, want string }{
		{"csv", "x,s\n1,a\n2,b\n", "s,x\nc,0.5\nNA,NA\n", "x [1,2,0.5,0]"},
		{"jsonl", "{\"x\":1,\"s\":\"a\"}\n{\"x\":2,\"s\":\"b\"}", "{\"s\":\"c\",\"x\":0.5}\n{}\n", "x [1,2,0.5,0]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			a, b, out := filepath.Join(dir, "a."+test.name), filepath.Join(dir, "b."+test.name), filepath.Join(dir, "out")
			require.NoError(t, os.WriteFile(a, []byte(test.a), 0o666))
			require.NoError(t, os.WriteFile(b, []byte(test.b), 0o666))
			require.NoError(t, forms.Convert(ctx, out, []string{a, b}, forms.Options{}))
			td := read(t, out, nil)
			x, err := tdict.Slice[float64](td, "x")
			require.NoError(t, err)
			require.Equal(t, []float64{1, 2, 0.5, 0}, x)
			s, err := tdict.Get[*ragged.Tensor](td, "s")
			require.NoError(t, err)
			got, err := ragged.Strings(s)
			require.NoError(t, err)
			require.Equal(t, []string{"a", "b", "c", ""}, got)
			for _, key := range []nestedkey.Key{"x_mask", "s_mask"} {
				mask, err := tdict.Slice[bool](td, key)
				require.NoError(t, err)
				require.Equal(t, []bool{true, true, true, false}, mask)
			}
		})
	}
}

// TestBrokenTables says the file, the line and the key, and leaves nothing.
func TestBrokenTables(t *testing.T) {
	dir := testkit.TempDir(t)
	schema := tdict.Schema{{Key: "x", DType: tensor.Int64}}
	for name, text := range map[string]string{"a.csv": "x\n1\nb\n", "a.jsonl": "{\"x\":1}\n{\"x\":\"b\"}\n"} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		for _, suffix := range all {
			err := forms.Convert(ctx, filepath.Join(dir, "out"+suffix), []string{path}, forms.Options{Open: forms.OpenOptions{Schema: schema}})
			var where *fs.PathError
			require.True(t, errors.As(err, &where) && where.Path == path, "%v", err)
			require.ErrorContains(t, err, `"x"`)
			_, err = os.Lstat(filepath.Join(dir, "out"+suffix))
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
	}
	litter(t, dir, "a.csv", "a.jsonl")
}
