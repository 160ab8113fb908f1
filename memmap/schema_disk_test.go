package memmap_test

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// visitSpecs is a schema, of which "in/more" is optional.
var visitSpecs = tdict.Schema{
	{Key: "x", DType: tensor.Float32, Shape: shapeops.Shape{tdict.Any}, Doc: "a \"position\""},
	{Key: "in/y", DType: tensor.Int64},
	{Key: "in/more", DType: tensor.Int8, Optional: true},
	{Key: "name", Kind: tdict.KindText},
	{Key: "codes", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 2},
	{Key: "note", Kind: tdict.KindData},
}

// visited rows fit visitSpecs.
func visitRows(t testing.TB, batch ...int) *tdict.TensorDict {
	exact := slices.Clone(visitSpecs)
	exact[0].Shape = shapeops.Shape{3}
	td := tensor.Must(exact.Zeros(batch...))
	require.NoError(t, td.Delete("in/more"))
	return td
}

// requireVisitSpecs checks that the dataset at a path has the schema, and is locked.
func requireVisitSpecs(t *testing.T, at string) {
	t.Helper()
	ds := open(t, at)
	require.Equal(t, visitSpecs, ds.Schema())
	require.NoError(t, visitSpecs.Check(ds.TensorDict))
	require.ErrorIs(t, ds.Set("bad", tdict.New(ds.Shape()...)), tdict.ErrLocked)
	require.ErrorIs(t, tensor.Must(ds.Dict("in")).Delete("y"), tdict.ErrLocked)
	_, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
	require.NoError(t, err)
}

// TestSchemaIsKept saves a schema in every way that makes a dataset, and through whatever changes
// one afterwards.
func TestSchemaIsKept(t *testing.T) {
	dir := testkit.TempDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	rows := visitRows(t, 4)
	classed := rows.Copy()
	require.NoError(t, classed.SetClass("my.Frame"))
	chunks := func(yield func(*tdict.TensorDict, error) bool) {
		if yield(rows, nil) {
			yield(rows, nil)
		}
	}
	with := memmap.SaveOptions{Schema: visitSpecs}
	for name, save := range map[string]func() error{
		"saved":       func() error { return memmap.SaveWith(t.Context(), at("saved"), rows, with) },
		"archive.tdz": func() error { return memmap.SaveWith(t.Context(), at("archive.tdz"), rows, with) },
		"class":       func() error { return memmap.SaveWith(t.Context(), at("class"), classed, with) },
		"chunks": func() error {
			return memmap.SaveRows(t.Context(), at("chunks"), iter.Seq2[*tdict.TensorDict, error](chunks), with)
		},
		"created": func() error {
			return tensor.Must(memmap.Create(at("created"), rows, memmap.CreateOptions{Schema: visitSpecs})).Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, save())
			requireVisitSpecs(t, at(name))
			for _, copied := range []string{"copy-" + name, "copy-of-" + name + ".tdz"} {
				require.NoError(t, memmap.Copy(t.Context(), at(name), at(copied), memmap.CopyOptions{}))
				requireVisitSpecs(t, at(copied))
			}
		})
	}
	ds := tensor.Must(memmap.OpenWith(at("saved"), memmap.OpenOptions{Writable: true}))
	require.NoError(t, tensor.Write(tensor.Must(ds.Tensor("in/y")), func(s []int64) { s[0] = 1 }))
	require.NoError(t, ds.AddLeaf("in/more", counted(tensor.Int8, 4)))
	require.NoError(t, ds.Close())
	requireVisitSpecs(t, at("saved"))
	live := tensor.Must(memmap.OpenLive(at("saved"), memmap.LiveOptions{}))
	require.NoError(t, live.Close())
	require.NoError(t, memmap.Save(at("saved"), rows))
	require.Nil(t, open(t, at("saved")).Schema(), "Save keeps no schema that it is not given")
	require.Nil(t, tensor.Must(memmap.Open(filepath.Join(at("class"), "_tensordict", "in"))).Schema())
}

// TestWriterOfASchema makes a dataset without a row.
func TestWriterOfASchema(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "rows")
	_, err := memmap.NewWriter(dir, nil, memmap.WriterOptions{})
	require.EqualError(t, err, "append "+dir+": wrong kind of value: got a nil dictionary, want a row or a Schema")
	for text, schema := range map[string]tdict.Schema{
		`"x": schema mismatch: `: visitSpecs[:2], // any size
		`schema mismatch: all rows share the value of "note", which a schema does not have: pass a row`:  visitSpecs[5:],
		`schema mismatch: all rows share the value of "codes", which a schema does not have: pass a row`: {{Key: "codes", Kind: tdict.KindUnbatched, DType: tensor.Int8}},
	} {
		_, err = memmap.NewWriter(dir, nil, memmap.WriterOptions{Schema: schema})
		require.ErrorIs(t, err, tdict.ErrSchema)
		require.ErrorContains(t, err, text)
	}
	for _, e := range []tdict.Spec{{Kind: tdict.KindText, Shape: shapeops.Shape{1 << 25}}, {Kind: tdict.KindRagged, DType: tensor.Int8, Batch: shapeops.Shape{1 << 36}, Depth: 1}} {
		e.Key = "many"
		_, err = memmap.NewWriter(dir, nil, memmap.WriterOptions{Schema: tdict.Schema{e}})
		require.ErrorIs(t, err, tdict.ErrSchema)
		require.ErrorContains(t, err, `a row has more than 16777216 texts and ragged rows at "many": pass a row`)
	}
	huge := tensor.Must(memmap.NewWriter(dir+"-huge", nil, memmap.WriterOptions{Schema: tdict.Schema{{Key: "x", DType: tensor.Int8, Shape: shapeops.Shape{1 << 45}}}}))
	require.NoError(t, huge.Close(), "a row takes no memory")
	schema := slices.Clone(visitSpecs[:5])
	schema[0].Shape = shapeops.Shape{3}
	schema = slices.Delete(schema, 2, 3) // optional
	w := tensor.Must(memmap.NewWriter(dir, nil, memmap.WriterOptions{Schema: schema}))
	rows := visitRows(t, 2)
	require.NoError(t, rows.Delete("note"))
	require.NoError(t, w.Append(rows))
	require.NoError(t, w.Finish())
	ds := open(t, dir)
	require.Empty(t, schema.Diff(ds.Schema()))
	require.NoError(t, differs(rows, ds.TensorDict))
}

// TestWriterKeepsSchema appends rows to a dataset with a schema, by Writers that name it or not.
func TestWriterKeepsSchema(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "rows")
	row := visitRows(t)
	writer := func(opt memmap.WriterOptions) *memmap.Writer { return tensor.Must(memmap.NewWriter(dir, row, opt)) }
	require.NoError(t, writer(memmap.WriterOptions{Schema: visitSpecs}).Close())
	w := writer(memmap.WriterOptions{}) // which makes one without rows anew
	require.NoError(t, w.Append(visitRows(t, 2)))
	require.NoError(t, w.Commit())
	requireVisitSpecs(t, dir)
	require.NoError(t, w.Append(visitRows(t, 1)))
	require.NoError(t, w.Close())
	w = writer(memmap.WriterOptions{})
	require.NoError(t, w.Append(visitRows(t, 3)))
	require.NoError(t, w.Finish())
	requireVisitSpecs(t, dir)

	before := tree(t, dir)
	other := visitSpecs[1:]
	_, err := memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true, Schema: other})
	require.ErrorIs(t, err, tdict.ErrSchema)
	same := slices.Clone(visitSpecs)
	same[0].Shape = shapeops.Shape{3}
	_, err = memmap.NewWriter(dir, row, memmap.WriterOptions{Resume: true, Schema: same})
	require.ErrorIs(t, err, tdict.ErrSchema)
	require.ErrorContains(t, err, "Schema differs from the schema of the dataset")
	require.Equal(t, before, tree(t, dir))
	w = writer(memmap.WriterOptions{Resume: true})
	require.NoError(t, w.Append(visitRows(t, 1)))
	require.NoError(t, w.Commit())
	requireVisitSpecs(t, dir)
	require.NoError(t, w.Finish())
	requireVisitSpecs(t, dir)

	require.NoError(t, memmap.Save(dir, visitRows(t, 2)))
	w = writer(memmap.WriterOptions{Resume: true, Schema: visitSpecs})
	require.NoError(t, w.Append(visitRows(t, 1)))
	require.NoError(t, w.Finish())
	requireVisitSpecs(t, dir)
}

// TestSchemaRefusesToBeSaved checks that nothing is written that breaks its schema.
func TestSchemaRefusesToBeSaved(t *testing.T) {
	dir := t.TempDir()
	td := visitRows(t, 2)
	require.NoError(t, td.Set("in/y", counted(tensor.Int32, 2)))
	with := memmap.SaveOptions{Schema: visitSpecs}
	row := tensor.Must(td.Clone())
	chunks := func(yield func(*tdict.TensorDict, error) bool) { yield(td, nil) }
	for name, err := range map[string]error{
		"save":    memmap.SaveWith(t.Context(), filepath.Join(dir, "d"), td, with),
		"archive": memmap.SaveWith(t.Context(), filepath.Join(dir, "d.tdz"), td, with),
		"create":  testkit.Err(memmap.Create(filepath.Join(dir, "d"), td, memmap.CreateOptions{Schema: visitSpecs})),
		"writer":  testkit.Err(memmap.NewWriter(filepath.Join(dir, "d"), row, memmap.WriterOptions{Schema: visitSpecs})),
		"rows":    memmap.SaveRows(t.Context(), filepath.Join(dir, "d"), chunks, with),
	} {
		require.ErrorIs(t, err, tdict.ErrSchema, name)
		require.ErrorContains(t, err, `"in/y"`, name)
	}
	require.ErrorIs(t, memmap.SaveWith(t.Context(), filepath.Join(dir, "d"), td, memmap.SaveOptions{Schema: tdict.Schema{{Key: "a"}, {Key: "a"}}}), tdict.ErrSchema)
	dims := tdict.Schema{{Key: "a", Optional: true, Shape: make(shapeops.Shape, 65)}}
	require.ErrorIs(t, memmap.SaveWith(t.Context(), filepath.Join(dir, "d"), tdict.New(), memmap.SaveOptions{Schema: dims}), shapeops.ErrShape)
	require.Empty(t, tree(t, dir))
}

// TestAddLeafKeepsTheSchema adds leaves that would break the schema of a dataset, and one that does
// not, also after the dictionary was changed in memory.
func TestAddLeafKeepsTheSchema(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "d")
	require.NoError(t, memmap.SaveWith(t.Context(), dir, visitRows(t, 2), memmap.SaveOptions{Schema: visitSpecs}))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	before := tree(t, dir)
	refuses := func() {
		require.ErrorIs(t, ds.AddLeaf("bad", counted(tensor.Int8, 2)), tdict.ErrSchema)
		require.ErrorIs(t, ds.AddLeaf("in/more", counted(tensor.Int16, 2)), tdict.ErrSchema)
		require.ErrorIs(t, ds.AddLeaf("in/deep/z", counted(tensor.Int8, 2)), tdict.ErrSchema)
		require.Equal(t, before, tree(t, dir))
	}
	refuses()
	require.NoError(t, ds.Unlock())
	require.NoError(t, ds.Set("unknown", counted(tensor.Int8, 2)))
	refuses()
	require.NoError(t, ds.AddLeaf("in/more", counted(tensor.Int8, 2)), "what is wrong in memory only does not matter")
	require.NoError(t, ds.Close())
	requireVisitSpecs(t, dir)
}

// TestHostileSchemas opens schemas of many entries, and of keys of many parts.
func TestHostileSchemas(t *testing.T) {
	n := 150_000
	if !longtests.On() {
		n = 3000
	}
	many := func(key string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `{"key":"%d%s","kind":"data","optional":true},`, i, key)
		}
		return `{"shape":[],"_type":"TensorDict","_go":[{"v":1,"schema":{"version":1,"entries":[` + strings.TrimSuffix(b.String(), ",") + `]}}]}`
	}
	for name, tt := range map[string]struct {
		text string
		most int
		want error
	}{
		"as many as there may be":  {many(""), n, nil},
		"one too many":             {many(""), n - 1, memmap.ErrUnsupported},
		"keys of many parts":       {many(strings.Repeat("/a", 200)), n, memmap.ErrUnsupported},
		"keys of some parts":       {many("/a/b"), n, nil},
		"entries that are no list": {`{"_type":"TensorDict","_go":[{"v":1,"schema":{"entries":7}}]}`, n, memmap.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "meta.json", tt.text)
			var err error
			testkit.MaxBytes(t, uint64(1500*n+20*len(tt.text)), func() {
				var ds *memmap.Dataset
				if ds, err = memmap.OpenWith(dir, memmap.OpenOptions{MaxEntries: tt.most}); err == nil {
					err = ds.Close()
				}
			})
			require.ErrorIs(t, err, tt.want)
		})
	}
}

// TestPythonSeesNoSchema opens a dataset with a schema in Python.
func TestPythonSeesNoSchema(t *testing.T) {
	const script = `
import sys
from tensordict import TensorDict
td = TensorDict.load_memmap(sys.argv[1])
assert sorted(td.keys()) == ["in", "x"], td
print(td["in", "y"].tolist())
`
	dir := filepath.Join(t.TempDir(), "d")
	schema := visitSpecs[:3]
	td := visitRows(t, 2).Exclude("name", "codes", "note")
	require.NoError(t, memmap.SaveWith(t.Context(), dir, td, memmap.SaveOptions{Schema: schema}))
	require.Equal(t, "[0, 0]", strings.TrimSpace(processkit.Python(t, script, dir)))
}
