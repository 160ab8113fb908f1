package conformance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A seen is a row of docs/python.md: a dataset that Go makes.
type seen struct {
	row    string // its first cell
	td     func() *tdict.TensorDict
	schema tdict.Schema
	form   string                                               // ".tdz", ".tdc", or "" for a directory
	save   func(t *testing.T, dir string, td *tdict.TensorDict) // nil for SaveWith
	clone  bool                                                 // Python saves td.clone()
}

// entries returns a maker of dictionaries [3].
func entries(all tdict.Entries) func() *tdict.TensorDict {
	return func() *tdict.TensorDict { return tensor.Must(tdict.FromMap(shapeops.Shape{3}, all)) }
}

// ofDTypes returns entries a, b ... [3 2] of dtypes.
func ofDTypes(dtypes ...tensor.DType) func() *tdict.TensorDict {
	all := tdict.Entries{}
	for i, dtype := range dtypes {
		all[nestedkey.Of(string(rune('a'+i)))] = tensor.Must(tensor.New(dtype, 3, 2))
	}
	return entries(all)
}

var (
	words = tensor.Must(ragged.FromStrings([]string{"Ada", "", "Bo"}))
	lists = tensor.Must(ragged.From[int32]([][]int32{{3, 5}, {}, {7}}))
)

// mixed returns a dictionary with a value of some kinds.
var mixed = entries(tdict.Entries{
	"n/y": tensor.Vector[float32](1, 2, 3), "words": words,
})

// members returns two dictionaries whose values differ in shape, as a lazy stack.
func members() *tdict.TensorDict {
	a := tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": tensor.Vector[float32](1, 2)}))
	b := tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": tensor.Vector[float32](1, 2, 3)}))
	return tensor.Must(tdict.LazyStack([]*tdict.TensorDict{a, b}, 0))
}

// frame returns an instance of the class of testdata/sees.py.
func frame() *tdict.TensorDict {
	td := entries(tdict.Entries{"x": tensor.Vector[float32](1, 2, 3), "note": tensor.Must(tdict.NewData("hi", 3))})()
	if err := td.SetClass("__main__.Frame"); err != nil {
		panic(err)
	}
	return td
}

func named() *tdict.TensorDict {
	td := entries(tdict.Entries{"x": tensor.Must(tensor.New(tensor.Float32, 3, 2)), "n/y": tensor.Vector[float32](1, 2, 3)})()
	if err := td.SetNames("patient"); err != nil {
		panic(err)
	}
	return td
}

// grow leaves a Writer at work that has committed the rows of td.
func grow(t *testing.T, dir string, td *tdict.TensorDict) {
	w, err := memmap.NewWriter(dir, tensor.Must(td.Index(ix.At(0))), memmap.WriterOptions{NoSync: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	require.NoError(t, w.Append(td))
	require.NoError(t, w.Commit())
}

// seens are the rows of the first table of docs/python.md.
var seens = []seen{
	{row: "floating-point numbers", td: ofDTypes(tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64)},
	{row: "signed integers", td: ofDTypes(tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64)},
	{row: "unsigned integers", td: ofDTypes(tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64)},
	{row: "complex numbers", td: ofDTypes(tensor.Complex64, tensor.Complex128)},
	{row: "bools", td: ofDTypes(tensor.Bool)},
	{
		row:    "missing values: a mask",
		td:     entries(tdict.Entries{"age": tensor.Vector[float32](3.5, 0, 1), "age_mask": tensor.Vector(true, false, true)}),
		schema: tdict.Schema{{Key: "age", DType: tensor.Float32, Mask: "age_mask"}, {Key: "age_mask", DType: tensor.Bool}},
	},
	{
		row:    "dates",
		td:     entries(tdict.Entries{"day": tensor.Vector[int64](19724, 19725, 0)}),
		schema: tdict.Schema{{Key: "day", DType: tensor.Int64, Time: time.DateOnly, Unit: "d"}},
	},
	{
		row:    "categories",
		td:     entries(tdict.Entries{"sex": tensor.Vector[int8](1, 0, 1)}),
		schema: tdict.Schema{{Key: "sex", DType: tensor.Int8, Categories: []string{"f", "m"}}},
	},
	{row: "text", td: entries(tdict.Entries{"s": words}), schema: tdict.Schema{{Key: "s", Kind: tdict.KindText}}},
	{row: "text, without a schema", td: entries(tdict.Entries{"s": words})},
	{row: "ragged, one level", td: entries(tdict.Entries{"r": lists})},
	{row: "ragged, two levels", td: entries(tdict.Entries{"r": tensor.Must(ragged.From[int32]([][][]int32{{{3}, {5}}, {}, {{7, 8}}}))})},
	{row: "ragged, three levels", td: entries(tdict.Entries{"r": tensor.Must(ragged.From[int32]([][][][]int32{{{{3}, {}}}, {}, {{{7, 8}}}}))})},
	{
		row:    "a list of texts in each row",
		td:     entries(tdict.Entries{"s": tensor.Must(ragged.From[uint8]([][][]uint8{{[]byte("Ada"), []byte("Bo")}, {}, {[]byte("")}}))}),
		schema: tdict.Schema{{Key: "s", Kind: tdict.KindText, Depth: 1}},
	},
	{row: "nested dictionaries", td: entries(tdict.Entries{"obs/x": tensor.Vector[float32](1, 2, 3)})},
	{row: "one value of JSON for all rows", td: entries(tdict.Entries{"d": tensor.Must(tdict.NewData(map[string]any{"fps": int64(30)}, 3))})},
	{row: "a value of JSON for each row", td: entries(tdict.Entries{"d": tensor.Must(tdict.DataFrom([]any{"a", nil, 1.5}, 3))})},
	{
		row: "a class", td: frame,
		schema: tdict.Schema{{Key: "note", Kind: tdict.KindData}, {Key: "x", DType: tensor.Float32}},
	},
	{row: "a lazy stack", td: members},
	{row: "unbatched", td: entries(tdict.Entries{"u": tensor.Must(tdict.NewUnbatched(tensor.Vector[float32](1, 2)))})},
	{row: "unbatched, as long as the batch", td: entries(tdict.Entries{"u": tensor.Must(tdict.NewUnbatched(tensor.Vector[float32](1, 2, 3)))})},
	{row: "names of dims", td: named},
	{row: "nested, and text", td: mixed},
	{row: "the same, in an archive", td: mixed, form: ".tdz"},
	{row: "the same, consolidated", td: mixed, form: ".tdc"},
	{row: "the same, and cloned", td: mixed, form: ".tdc", clone: true},
	{row: "the same, growing", td: mixed, save: grow},
}

// write saves the dataset of a row, and returns its path.
func (s seen) write(t *testing.T, folder string) string {
	t.Helper()
	require.NoError(t, os.Mkdir(folder, 0o777))
	at := filepath.Join(folder, "data"+s.form)
	if s.clone {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "clone"), nil, 0o666))
	}
	if s.save != nil {
		s.save(t, at, s.td())
		return at
	}
	require.NoError(t, memmap.SaveWith(t.Context(), at, s.td(), memmap.SaveOptions{Schema: s.schema, NoSync: true}))
	return at
}

// TestPythonSees checks the tables of docs/python.md: each dataset in Go, of TensorDict.load_memmap
// and of tdict.open; the same after Python has saved it again; and datasets that Go changes while
// Python has them open. Python takes some seconds to start.
func TestPythonSees(t *testing.T) {
	top, open := t.TempDir(), t.TempDir()
	cmd := processkit.PythonCommand(t, "testdata/sees.py", tensor.Must(filepath.Abs("../../../python/src")), top, open)
	want := make([][]string, len(seens))
	for i, s := range seens {
		ds, err := memmap.Open(s.write(t, filepath.Join(top, fmt.Sprintf("%02d", i))))
		require.NoError(t, err, s.row)
		want[i] = []string{s.row, ticked(entriesOf(ds))}
		require.NoError(t, ds.Close())
	}
	for _, s := range steps {
		for _, way := range ways {
			require.NoError(t, memmap.Save(filepath.Join(open, s.row, way), s.old()))
		}
	}
	p := processkit.Run(t, cmd)
	for i, s := range seens {
		var said struct{ Plain, Package string }
		require.NoError(t, json.Unmarshal([]byte(p.Line(t)), &said))
		folder := filepath.Join(top, fmt.Sprintf("%02d", i))
		want[i] = append(want[i], ticked(said.Plain), ticked(said.Package), s.again(t, folder, "plain"), s.again(t, folder, "package"))
	}
	t.Run("Values", func(t *testing.T) {
		requireTable(t, want, table(t, pythonPage, "Values", "value", "in Go", "load_memmap", "tdict.open", "saved by tensordict", "saved by tdict"))
	})
	t.Run("Time", func(t *testing.T) {
		requireTable(t, meanwhile(t, p, open), table(t, pythonPage, "Meanwhile", "meanwhile", "load_memmap", "tdict.open", "tdict.open(path, writable=True)"))
	})
	require.NoError(t, p.Ended(), "%s", p.Tail())
}

const pythonPage = "../../../docs/python.md"

// ways are the columns of the second table: how testdata/sees.py opens a dataset.
var ways = []string{"plain", "package", "writable"}

// A step is a row of the second table: what happens while Python has a dataset open. Python writes
// an element if the row says so.
type step struct {
	row  string
	does func(t *testing.T, dir string) // what Go does; nil for nothing
}

// old returns what Python opens.
func (step) old() *tdict.TensorDict {
	return entries(tdict.Entries{"x": tensor.Vector[int64](1, 2, 3)})()
}

func other() *tdict.TensorDict { return entries(tdict.Entries{"x": tensor.Vector[int64](4, 5, 6)})() }

func save(t *testing.T, dir string) { require.NoError(t, memmap.Save(dir, other())) }

var steps = []step{
	{"Go saves another dataset there", save},
	{"a Writer of Go appends rows and commits them", func(t *testing.T, dir string) {
		w, err := memmap.NewWriter(dir, tensor.Must(other().Index(ix.At(0))), memmap.WriterOptions{Resume: true})
		require.NoError(t, err)
		require.NoError(t, w.Append(other()))
		require.NoError(t, w.Commit())
		require.NoError(t, w.Close())
	}},
	{"Go stores elements in place", func(t *testing.T, dir string) {
		ds, err := memmap.OpenWith(dir, memmap.OpenOptions{Writable: true})
		require.NoError(t, err)
		require.NoError(t, ds.SetIndex(other(), ix.All))
		require.NoError(t, ds.Close())
	}},
	{"Go removes the directory", func(t *testing.T, dir string) { require.NoError(t, os.RemoveAll(dir)) }},
	{"Python writes an element", nil},
	{"Go saves another dataset, then Python writes an element", save},
}

// meanwhile does the steps, hears what Python sees then, and returns the rows of the second table.
func meanwhile(t *testing.T, p *processkit.Process, open string) [][]string {
	require.Equal(t, "opened", p.Line(t))
	for _, s := range steps {
		for _, way := range ways {
			if s.does != nil {
				s.does(t, filepath.Join(open, s.row, way))
			}
		}
	}
	p.Proceed(t)
	seen := map[string][]int64{}
	for range len(steps) * len(ways) {
		var said struct {
			At string
			X  []int64
		}
		require.NoError(t, json.Unmarshal([]byte(p.Line(t)), &said))
		seen[said.At] = said.X
	}
	rows := make([][]string, len(steps))
	for i, s := range steps {
		rows[i] = []string{s.row}
		for _, way := range ways {
			at := filepath.Join(open, s.row, way)
			if strings.Contains(s.row, "writes") {
				rows[i] = append(rows[i], written(t, at))
				continue
			}
			text, ok := map[int64]string{1: "the old rows", 4: "the new elements"}[seen[at][0]]
			require.True(t, ok && len(seen[at]) == 3, "%s: %v", at, seen[at])
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

// written says what became of the 9 that Python has written to a dataset.
func written(t *testing.T, dir string) string {
	ds, err := memmap.Open(dir)
	require.NoError(t, err)
	x, err := tdict.Item[int64](ds, "x", 0)
	require.NoError(t, err)
	require.NoError(t, ds.Close())
	_, err = memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	if x != 9 {
		require.NoError(t, err)
		return "not in the files, no error"
	}
	require.ErrorIs(t, err, memmap.ErrCorrupt)
	require.NoError(t, memmap.Seal(t.Context(), dir))
	_, err = memmap.Verify(t.Context(), dir, memmap.VerifyOptions{})
	require.NoError(t, err)
	return "in the file: `ErrCorrupt` of `Verify`, until `Seal`"
}

var lettered = regexp.MustCompile(`[a-d]: (\w+) (\[[\d, ]+\])`)

// ticked returns a text as code. Entries a, b ... of one shape become a list of dtypes.
func ticked(text string) string {
	if strings.HasPrefix(text, "{a: ") {
		var dtypes []string
		entries := lettered.FindAllStringSubmatch(text, -1)
		for _, e := range entries {
			dtypes = append(dtypes, e[1])
		}
		text = strings.Join(dtypes, " ") + " " + entries[0][2]
	}
	return "`" + text + "`"
}

// entriesOf returns the text of a dataset as the table has it.
func entriesOf(ds *memmap.Dataset) string {
	if ds.Names()[0] != "" {
		return fmt.Sprintf("names %v", ds.Names())
	}
	var texts []string
	list, one := ds.Listing().Entries, 1
	for _, e := range list {
		if e.Kind == tdict.KindDict {
			one = 2 // it is listed before its entry
			continue
		}
		texts = append(texts, string(e.Key)+": "+entryOf(e, ds.Schema()))
	}
	slices.Sort(texts)
	out := "{" + strings.Join(texts, ", ") + "}"
	if len(list) == 1 && one == 1 {
		out = entryOf(list[0], ds.Schema())
	}
	if class := ds.Class(); class != "" {
		out = class + " " + out
	}
	return out
}

// entryOf returns the text of an entry, with a star for a level, and a question mark for a size
// that differs.
func entryOf(e memmap.Entry, schema tdict.Schema) string {
	text := fmt.Sprintf("%v %v %v", e.Kind, e.DType, e.Shape)
	switch e.Kind {
	case tdict.KindRagged:
		text = strings.ReplaceAll(text, "-1", "*")
	case tdict.KindStacked:
		text = strings.ReplaceAll(text, "-1", "?")
	case tdict.KindData:
		text = fmt.Sprintf("data %v", e.Shape)
	case tdict.KindTensor:
		text = fmt.Sprintf("%v %v", e.DType, e.Shape)
	}
	spec, _ := schema.Find(e.Key)
	if spec.Kind == tdict.KindText {
		text += ", text"
	}
	if meaning := spec.Meaning(); meaning != "" {
		text += ", " + meaning
	}
	return text
}

// again says what Go finds where Python has saved the dataset.
func (s seen) again(t *testing.T, folder, how string) string {
	t.Helper()
	at := filepath.Join(folder, how+s.form)
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		return "nothing is saved"
	}
	ds, err := memmap.Open(at)
	require.NoError(t, err, s.row)
	defer func() { require.NoError(t, ds.Close()) }()
	want := s.td()
	if !want.Equal(ds.TensorDict) {
		return ticked(entriesOf(ds))
	}
	var lost []string
	for what, is := range map[string]bool{
		"names": !sameNames(want, ds.TensorDict), "class": want.Class() != ds.Class(),
		"schema": s.schema.Diff(ds.Schema()) != "",
	} {
		if is {
			lost = append(lost, what)
		}
	}
	slices.Sort(lost)
	report, err := memmap.Verify(t.Context(), at, memmap.VerifyOptions{})
	require.NoError(t, err, s.row)
	require.True(t, s.form == ".tdz" || len(report.Unsummed) == report.Leaves, "%s: %v", s.row, report)
	if lost == nil {
		return "the same"
	}
	return "the same, without its " + strings.Join(lost, ", ")
}

// sameNames reports whether two dictionaries of equal keys have the same names of dims.
func sameNames(a, b *tdict.TensorDict) bool {
	for key, v := range a.All() {
		inner, is := v.(*tdict.TensorDict)
		if is && !sameNames(inner, tensor.Must(b.Dict(key))) {
			return false
		}
	}
	return slices.Equal(a.Names(), b.Names())
}

// page returns the text of a file.
func page(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// table returns the rows of the first table in a section of a page, and requires its head.
func table(t *testing.T, path, section string, head ...string) (rows [][]string) {
	t.Helper()
	_, text, ok := strings.Cut(page(t, path), "\n## "+section+"\n")
	require.True(t, ok, "no section %s", section)
	for line := range strings.Lines(text) {
		line, isRow := strings.CutPrefix(strings.TrimSpace(line), "| ")
		switch {
		case isRow:
			rows = append(rows, strings.Split(strings.TrimSuffix(line, " |"), " | "))
		case rows != nil && !strings.HasPrefix(line, "|"):
			require.Equal(t, head, rows[0])
			return rows[1:]
		}
	}
	require.FailNow(t, "no line after the table", section)
	return nil
}

// requireTable compares what a test has seen with the rows of a page, and says how a row that
// differs has to be.
func requireTable(t *testing.T, seen, page [][]string) {
	t.Helper()
	for i, row := range seen {
		if i >= len(page) || !slices.Equal(row, page[i]) {
			t.Errorf("the page has another row than\n| %s |", strings.Join(row, " | "))
		}
	}
	require.Len(t, page, len(seen))
}
