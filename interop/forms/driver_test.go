package forms_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// fake is a driver whose files are the bytes PAR1, a schema and lines of JSON.
type fake struct {
	read *[]nestedkey.Key // the entries that the last call of Read was to read
}

var errFake = errors.New("not a file of fake")

func (fake) Infer(path string, opt forms.DriverOptions) (schema tdict.Schema, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	head, _, _ := bytes.Cut(text, []byte("\n"))
	if head, ok := bytes.CutPrefix(head, []byte("PAR1")); !ok || json.Unmarshal(head, &schema) != nil {
		return nil, errFake
	}
	opt.Note("inferred")
	return schema, nil
}

func (d fake) Read(ctx context.Context, path string, opt forms.DriverOptions) iter.Seq2[*tdict.TensorDict, error] {
	if d.read != nil {
		*d.read = keysOf(opt.Schema)
	}
	return func(yield func(*tdict.TensorDict, error) bool) {
		text, err := os.ReadFile(path)
		if err != nil {
			yield(nil, err)
			return
		}
		opt.Progress(len(text))
		_, rows, _ := bytes.Cut(text, []byte("\n"))
		jsonl.Read(ctx, bytes.NewReader(rows), opt.Schema, jsonl.ReadOptions{Rows: 2, SkipUnknown: true})(yield)
	}
}

func (fake) Write(ctx context.Context, w io.Writer, schema tdict.Schema, chunks iter.Seq2[*tdict.TensorDict, error]) error {
	text, err := json.Marshal(schema)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	b.WriteString("PAR1" + string(text) + "\n")
	return errors.Join(jsonl.Write(ctx, b, schema, chunks, jsonl.WriteOptions{}), b.Flush())
}

// TestNoDriver: without a driver, no function reads or writes anything.
func TestNoDriver(t *testing.T) {
	dir := testkit.TempDir(t)
	in := saved(t, dict(t, []int{2}, tdict.Entries{"a": tensor.Vector[int64](1, 2)}))
	file := filepath.Join(dir, "x.pq")
	require.NoError(t, os.WriteFile(file, []byte("PAR1"), 0o666))
	f, err := forms.Of(file)
	require.NoError(t, err)
	require.Equal(t, forms.Parquet, f)
	require.ErrorIs(t, f.CheckDriver(), forms.ErrDriver)
	require.NoError(t, forms.CSV.CheckDriver())
	out := filepath.Join(dir, "out")
	split := forms.SplitOptions{Counts: []int{1, 1}, Names: []string{"a", "b.arrow"}}
	for name, err := range map[string]error{
		"an input":        forms.Convert(ctx, out, []string{file}, forms.Options{}),
		"a second input":  forms.Convert(ctx, out, []string{in, file}, forms.Options{}),
		"an output":       forms.Convert(ctx, out+".feather", []string{in}, forms.Options{}),
		"a given form":    forms.Convert(ctx, out, []string{in}, forms.Options{Form: forms.Arrow}),
		"a part":          forms.Split(ctx, out, in, split),
		"rows of a slice": forms.Slice(ctx, out, file, forms.SliceOptions{}),
		"a sorted output": forms.Sort(ctx, out+".arrow", in, forms.SortOptions{By: []nestedkey.Key{"a"}}),
	} {
		require.ErrorIs(t, err, forms.ErrDriver, name)
		require.NotErrorIs(t, err, forms.ErrForm, name)
		require.ErrorContains(t, err, "call arrowforms.Register", name)
	}
	_, err = forms.Open(file, forms.OpenOptions{})
	require.ErrorIs(t, err, forms.ErrDriver)
	require.ErrorContains(t, err, file)
	require.Len(t, tensor.Must(os.ReadDir(dir)), 1)
}

// TestOfDriven knows the first bytes of files that need a driver.
func TestOfDriven(t *testing.T) {
	for head, want := range map[string]forms.Form{
		"PAR1....": forms.Parquet, "PARE....": forms.Parquet, "ARROW1\x00\x00": forms.Arrow, "\xff\xff\xff\xff\x10\x01\x00\x00": forms.Arrow,
	} {
		path := filepath.Join(testkit.TempDir(t), "x.csv")
		require.NoError(t, os.WriteFile(path, []byte(head), 0o666))
		got, err := forms.Of(path)
		require.NoError(t, err)
		require.Equal(t, want, got, "%q", head)
	}
}

// TestDriven takes a table there and back through a driver.
func TestDriven(t *testing.T) {
	var read []nestedkey.Key
	forms.Register(forms.Parquet, fake{&read})
	defer forms.Unregister(forms.Parquet)
	dir := testkit.TempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("a.csv"), []byte("name,age,bmi\nann,NA,1.5\nbob,7,NA\ncid,8,2.5\n"), 0o666))
	must := func(err error) { t.Helper(); require.NoError(t, err) }
	text := func(path string, opt forms.Options) string {
		t.Helper()
		opt.Form, opt.Force = forms.CSV, true
		must(forms.Convert(ctx, at("out.csv"), []string{path}, opt))
		return string(tensor.Must(os.ReadFile(at("out.csv"))))
	}
	must(forms.Convert(ctx, at("a.pq"), []string{at("a.csv")}, forms.Options{}))
	require.Equal(t, "name,age,bmi\nann,NA,1.5\nbob,7,NA\ncid,8,2.5\n", text(at("a.pq"), forms.Options{}))

	must(forms.Convert(ctx, at("d"), []string{at("a.pq")}, forms.Options{}))
	must(forms.Convert(ctx, at("b.pq"), []string{at("d")}, forms.Options{}))
	ds := tensor.Must(memmap.Open(at("d")))
	defer ds.Close()
	in := tensor.Must(forms.Open(at("b.pq"), forms.OpenOptions{}))
	require.Nil(t, in.Dict)
	require.Equal(t, []nestedkey.Key{"name", "age", "bmi"}, keysOf(in.Schema))
	require.Nil(t, in.Losses(forms.Parquet))
	direct := tensor.Must(fake{}.Infer(at("b.pq"), forms.DriverOptions{Note: func(string) {}}))
	require.Equal(t, ds.Schema(), direct) // with the masks

	t.Run("rows and entries are selected, only these are read", func(t *testing.T) {
		require.Equal(t, "age\nNA\n7\n8\n", text(at("a.pq"), forms.Options{Select: forms.Selection{Keys: []nestedkey.Key{"age"}}}))
		require.ElementsMatch(t, []nestedkey.Key{"age", "age_mask"}, read)
		require.Equal(t, "age,bmi\nNA,1.5\n7,NA\n8,2.5\n", text(at("a.pq"), forms.Options{Select: forms.Selection{Drop: []nestedkey.Key{"name"}}}))
		require.NotContains(t, read, nestedkey.Key("name"))
		where := tensor.Must(where.Parse(`age >= 8 or missing(age)`))
		require.Equal(t, "years,name\nNA,ann\n8,cid\n", reorder(text(at("a.pq"), forms.Options{Select: forms.Selection{
			Where: where, Keys: []nestedkey.Key{"name", "age"}, Rename: [][2]nestedkey.Key{{"age", "years"}}}})))
		require.Contains(t, read, nestedkey.Key("bmi")) // the condition comes first
	})
	t.Run("missing values become NaN", func(t *testing.T) {
		must(forms.Convert(ctx, at("nan"), []string{at("a.pq")}, forms.Options{MissingNaN: true}))
		ds := tensor.Must(memmap.Open(at("nan")))
		defer ds.Close()
		require.False(t, ds.Has("bmi_mask"))
		require.True(t, ds.Has("age_mask"))
	})
	t.Run("a schema is given", func(t *testing.T) {
		schema := slices.Clone(in.Schema)
		schema[1].DType = tensor.Float32
		require.Equal(t, "name,age,bmi\nann,NA,1.5\nbob,7.0,NA\ncid,8.0,2.5\n", text(at("a.pq"), forms.Options{Open: forms.OpenOptions{Schema: schema}}))
	})
	t.Run("several inputs join masks", func(t *testing.T) {
		must(os.WriteFile(at("c.csv"), []byte("name,age,bmi\ndan,1,0.5\n"), 0o666))
		must(forms.Convert(ctx, at("c.pq"), []string{at("c.csv")}, forms.Options{}))
		must(forms.Convert(ctx, at("all"), []string{at("c.pq"), at("a.pq")}, forms.Options{}))
		require.Equal(t, "name,age,bmi\ndan,1,0.5\nann,NA,1.5\nbob,7,NA\ncid,8,2.5\n", text(at("all"), forms.Options{}))
	})
	t.Run("sort, split and slices", func(t *testing.T) {
		must(forms.Sort(ctx, at("sorted.pq"), at("a.pq"), forms.SortOptions{By: []nestedkey.Key{"bmi"}}))
		must(forms.Split(ctx, at("parts"), at("a.pq"), forms.SplitOptions{Counts: []int{1, 2}, Names: []string{"x.pq", "y"}}))
		f, err := forms.Of(at("parts/x.pq"))
		must(err)
		require.Equal(t, forms.Parquet, f)
	})
	t.Run("names that no directory can have", func(t *testing.T) {
		must(os.WriteFile(at("s.csv"), []byte("shape,x\n1,2\n"), 0o666))
		notes := []string{}
		must(forms.Convert(ctx, at("s.pq"), []string{at("s.csv")}, forms.Options{}))
		must(forms.Convert(ctx, at("s"), []string{at("s.pq")}, forms.Options{Open: forms.OpenOptions{Note: func(text string) { notes = append(notes, text) }}}))
		require.Equal(t, []string{at("s.pq") + ": inferred"}, notes) // the key had been replaced before
	})
	t.Run("what it cannot hold", func(t *testing.T) {
		td := dict(t, []int{2}, tdict.Entries{"b": tensor.Must(tensor.New(tensor.BFloat16, 2)), "c": tensor.Must(tensor.New(tensor.Complex64, 2)), "i": tensor.Vector[int64](1, 2)})
		err := forms.Convert(ctx, at("no.pq"), []string{saved(t, td)}, forms.Options{})
		require.ErrorIs(t, err, forms.ErrLoss)
		require.ErrorContains(t, err, `"b": bfloat16; "c": complex64`)
		require.NoFileExists(t, at("no.pq"))
	})
	t.Run("errors name the file", func(t *testing.T) {
		must(os.WriteFile(at("broken.pq"), []byte("PAR1{\n"), 0o666))
		err := forms.Convert(ctx, at("no"), []string{at("broken.pq")}, forms.Options{})
		require.ErrorIs(t, err, errFake)
		require.ErrorContains(t, err, at("broken.pq"))
		require.NoFileExists(t, at("no"))
		err = forms.Convert(ctx, at("no"), []string{forms.Stdin}, forms.Options{Open: forms.OpenOptions{Stdin: strings.NewReader(""), Form: forms.Parquet, Schema: in.Schema}})
		require.ErrorIs(t, err, forms.ErrForm)
		require.NotErrorIs(t, err, fs.ErrNotExist)
	})
}

// keysOf returns the keys of a schema.
func keysOf(schema tdict.Schema) (keys []nestedkey.Key) {
	for _, s := range schema {
		keys = append(keys, s.Key)
	}
	return keys
}

// reorder returns a table of two columns with the second one first.
func reorder(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		a, b, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ",")
		out.WriteString(b + "," + a + "\n")
	}
	return out.String()
}
