package tensorclass_test

import (
	"errors"
	"math"
	"math/big"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

// A visit has a field of each kind.
type visit struct {
	Patient string
	Pos     [2]float32
	Codes   []int64
	Done    bool
	Wave    complex128
	Weight  *float32 `td:"weight,mask=weight_mask"`
	Meta    struct {
		Tags map[string]string
		At   time.Time
	}
	Note any    `td:"note"`
	skip string `td:"-"`
}

func visits(n int) []visit {
	rows := make([]visit, n)
	for i := range rows {
		v := &rows[i]
		v.Patient = []string{"ann", "", "\xff\x00", "日本"}[i%4]
		v.Pos = [2]float32{float32(i), -1}
		for k := range i % 3 {
			v.Codes = append(v.Codes, int64(10*i+k))
		}
		v.Done = i%2 == 1
		v.Wave = complex(float64(i), 1)
		if i%3 == 0 {
			v.Weight = new(float32)
			*v.Weight = float32(i) / 2
		}
		v.Meta.Tags = map[string]string{"k": "v"}
		v.Meta.At = time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC)
		v.Note = []any{"x", true, nil, float64(i)}[i%4]
	}
	return rows
}

func collect[T any](t testing.TB, td *tdict.TensorDict) (rows []T) {
	t.Helper()
	for row, err := range tensorclass.Rows[T](td) {
		require.NoError(t, err)
		rows = append(rows, *row)
	}
	return rows
}

// TestSources reads rows of a dictionary in every memory and layout.
func TestSources(t *testing.T) {
	const n = 1100 // some blocks
	rows := visits(n)
	td := tensor.Must(tensorclass.FromRows(rows))
	dir := filepath.Join(testkit.TempDir(t), "visits")
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	var twice, back []int
	for i := range n {
		twice, back = append(twice, i, i), append(back, n-1-i)
	}
	reversed := make([]visit, n)
	for i := range rows {
		reversed[i] = rows[n-1-i]
	}
	for name, tt := range map[string]struct {
		td   *tdict.TensorDict
		want []visit
	}{
		"as made":       {td, rows},
		"a part":        {tensor.Must(td.Index(ix.Range(3, 900))), rows[3:900]},
		"strided":       {tensor.Must(tensor.Must(td.Take(0, tensor.Vector(int64s(twice)...))).Index(ix.Range(0, ix.End).Step(2))), rows},
		"reversed":      {tensor.Must(td.Index(ix.Take(back...))), reversed},
		"mapped":        {ds.TensorDict, rows},
		"a mapped part": {tensor.Must(ds.Index(ix.Range(100, ix.End))), rows[100:]},
		"one row":       {tensor.Must(td.Index(ix.Range(5, 6))), rows[5:6]},
		"no row":        {tensor.Must(td.Index(ix.Range(5, 5))), nil},
		"broadcast":     {tensor.Must(tensor.Must(td.Index(ix.At(7))).Expand(600)), repeat(rows[7], 600)},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tensorclass.ToRows[visit](tt.td)
			require.NoError(t, err)
			require.Len(t, got, len(tt.want))
			if len(tt.want) > 0 {
				require.Equal(t, tt.want, got)
			}
			require.Equal(t, tt.want, collect[visit](t, tt.td))
			for _, i := range []int{0, -1} {
				var v visit
				err := tensorclass.Row(tt.td, i, &v)
				if len(tt.want) == 0 {
					require.ErrorIs(t, err, shapeops.ErrIndex)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, tt.want[(i+len(tt.want))%len(tt.want)], v)
			}
		})
	}
}

func int64s(list []int) (out []int64) {
	for _, v := range list {
		out = append(out, int64(v))
	}
	return out
}

func repeat(v visit, n int) (rows []visit) {
	for range n {
		rows = append(rows, v)
	}
	return rows
}

func TestPermutedColumn(t *testing.T) {
	type row struct{ A [3]int16 }
	td := tdict.New(2)
	x := tensor.Must(tensor.From([]int16{1, 2, 3, 4, 5, 6}, 3, 2))
	require.NoError(t, td.Set("a", tensor.Must(x.Permute(1, 0))))
	require.Equal(t, []row{{[3]int16{1, 3, 5}}, {[3]int16{2, 4, 6}}}, tensor.Must(tensorclass.ToRows[row](td)))
}

func TestUnalignedColumn(t *testing.T) {
	td := tdict.New(2)
	b := make([]byte, 17)
	b[1], b[9] = 7, 8
	require.NoError(t, td.Set("id", tensor.Must(tensor.FromBytes(tensor.Int64, b[1:], 2))))
	require.Equal(t, []Base{{7}, {8}}, tensor.Must(tensorclass.ToRows[Base](td)))
}

// TestRowsAreCopies writes to a row, and keeps copies of rows.
func TestRowsAreCopies(t *testing.T) {
	td := tensor.Must(tensorclass.FromRows(visits(300)))
	before := tensor.Must(td.Clone())
	for v, err := range tensorclass.Rows[visit](td) {
		require.NoError(t, err)
		v.Pos[0]++
		v.Patient = "changed"
		for i := range v.Codes {
			v.Codes[i] = -1
		}
		v.Codes = append(v.Codes, 1)
		if v.Weight != nil {
			*v.Weight = -1
		}
	}
	require.True(t, td.Equal(before))
	for range tensorclass.Rows[visit](td) {
		break
	}
}

func TestRowsShareNoAppend(t *testing.T) {
	type row struct{ Codes []int64 }
	rows := tensor.Must(tensorclass.ToRows[row](tensor.Must(tensorclass.FromRows([]row{{[]int64{1}}, {[]int64{2}}}))))
	_ = append(rows[0].Codes, 9)
	require.Equal(t, []row{{[]int64{1}}, {[]int64{2}}}, rows)
}

func TestSetRow(t *testing.T) {
	rows := visits(5)
	td := tensor.Must(tensorclass.FromRows(rows))
	v := rows[3]
	v.Patient, v.Codes, v.Weight = "longer than it was", nil, nil
	require.NoError(t, tensorclass.SetRow(td, -5, &v))
	rows[0] = v
	require.Equal(t, rows, tensor.Must(tensorclass.ToRows[visit](td)))
}

func TestSetRowWritesMappedFiles(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "steps")
	rows, _ := steps(3)
	require.NoError(t, memmap.Save(dir, tensor.Must(tensorclass.FromRows(rows))))
	ds := tensor.Must(memmap.OpenWith(dir, memmap.OpenOptions{Writable: true}))
	defer ds.Close()
	rows[2] = step{ID: 9, Pos: [3]float64{1, 2, 3}, Time: math.Inf(1)}
	require.NoError(t, tensorclass.SetRow(ds.TensorDict, 2, &rows[2]))
	require.Equal(t, rows, tensor.Must(tensorclass.ToRows[step](ds.TensorDict)))
}

// TestAppendRows appends to a Writer, whose row the schema of the struct makes.
func TestAppendRows(t *testing.T) {
	type row struct {
		Patient string
		Pos     [2]float32
		Codes   []int64
		Weight  *float32 `td:"weight,mask=weight_mask"`
	}
	half := float32(0.5)
	rows := []row{{"ann", [2]float32{1, 2}, []int64{1, 2}, &half}, {}, {Patient: "bob", Codes: []int64{3}}}
	dir := filepath.Join(testkit.TempDir(t), "rows")
	w := tensor.Must(memmap.NewWriter(dir, tensor.Must(tensor.Must(tensorclass.SchemaFor[row]()).Meta()), memmap.WriterOptions{}))
	require.NoError(t, tensorclass.AppendRows(w, rows[:1]))
	require.NoError(t, tensorclass.AppendRows(w, rows[1:]))
	require.NoError(t, tensorclass.AppendRows(w, []row{}))
	require.NoError(t, w.Commit())
	require.NoError(t, w.Close())
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	require.Equal(t, rows, collect[row](t, ds.TensorDict))
	require.ErrorIs(t, tensorclass.AppendRows(w, []list{{}}), tensorclass.ErrType)
}

func TestNoRows(t *testing.T) {
	for _, rows := range [][]visit{nil, {}} {
		td := tensor.Must(tensorclass.FromRows(rows))
		require.Equal(t, shapeops.Shape{0}, td.Shape())
		require.NoError(t, tensor.Must(tensorclass.SchemaFor[visit]()).Check(td))
		require.Empty(t, tensor.Must(tensorclass.ToRows[visit](td)))
	}
}

func TestOptionalEntries(t *testing.T) {
	type row struct {
		A int64
		B string         `td:",optional"`
		C map[string]int `td:",optional"`
	}
	td := tensor.Must(tensorclass.FromRows([]row{{A: 1, B: "x"}, {A: 2}}))
	require.NoError(t, td.Delete("b"))
	require.NoError(t, td.Delete("c"))
	require.Equal(t, []row{{A: 1}, {A: 2}}, collect[row](t, td))
	v := row{B: "was", C: map[string]int{"was": 1}}
	require.NoError(t, tensorclass.Row(td, 1, &v))
	require.Equal(t, row{A: 2}, v)
	require.ErrorIs(t, tensorclass.SetRow(td, 0, &v), tdict.ErrMissing)
}

func TestLeftOutFieldsStay(t *testing.T) {
	td := tensor.Must(tensorclass.FromRows(visits(3)))
	v := visit{skip: "kept"}
	require.NoError(t, tensorclass.Row(td, 1, &v))
	require.Equal(t, "kept", v.skip)
	require.Equal(t, "", v.Patient)
}

// TestEmbeddedFields sets fields of a struct that is embedded and not exported.
func TestEmbeddedFields(t *testing.T) {
	type row struct {
		base
		hidden
		A bool
	}
	rows := []row{{base{1}, hidden{"x", []int8{1}}, true}, {base{2}, hidden{"y", nil}, false}}
	require.Equal(t, rows, collect[row](t, tensor.Must(tensorclass.FromRows(rows))))
}

type hidden struct {
	Text string
	List []int8
}

func TestClassOfRows(t *testing.T) {
	type row struct {
		_ tensorclass.Class `td:"my.module.Row"`
		A int64
	}
	td := tensor.Must(tensorclass.FromRows([]row{{A: 1}}))
	require.Equal(t, "my.module.Row", td.Class())
	require.Equal(t, []row{{A: 1}}, tensor.Must(tensorclass.ToRows[row](td)))
}

// change returns a dictionary of visits of which one entry is another.
func change(t *testing.T, fn func(td *tdict.TensorDict) error) *tdict.TensorDict {
	t.Helper()
	td := tensor.Must(tensorclass.FromRows(visits(4)))
	require.NoError(t, fn(td))
	return td
}

// TestRefusedRows lists dictionaries that do not have the entries of a struct. They, and the struct
// that is read to or written, stay as they were.
func TestRefusedRows(t *testing.T) {
	for name, tt := range map[string]struct {
		td   *tdict.TensorDict
		want error
	}{
		"nil":      {nil, tdict.ErrKind},
		"no batch": {tdict.New(), shapeops.ErrDim},
		"two dims": {tdict.New(2, 2), shapeops.ErrDim},
		"missing":  {change(t, func(td *tdict.TensorDict) error { return td.Delete("pos") }), tdict.ErrSchema},
		"no mask":  {change(t, func(td *tdict.TensorDict) error { return td.Delete("weight_mask") }), tdict.ErrSchema},
		"dtype":    {change(t, func(td *tdict.TensorDict) error { return td.Set("pos", tensor.Must(tensor.Zeros[float64](4, 2))) }), tdict.ErrSchema},
		"shape":    {change(t, func(td *tdict.TensorDict) error { return td.Set("pos", tensor.Must(tensor.Zeros[float32](4, 3))) }), tdict.ErrSchema},
		"kind":     {change(t, func(td *tdict.TensorDict) error { return td.Set("patient", tensor.Must(tensor.Zeros[uint8](4))) }), tdict.ErrSchema},
		"depth": {change(t, func(td *tdict.TensorDict) error {
			return td.Set("codes", tensor.Must(ragged.FromDepth[int64]([][][]int64{{}, {}, {}, {}}, 2)))
		}), tdict.ErrSchema},
		"a leaf": {change(t, func(td *tdict.TensorDict) error { return td.Set("meta", tensor.Must(tensor.Zeros[uint8](4))) }), tdict.ErrNotDict},
		"data":   {change(t, func(td *tdict.TensorDict) error { return td.Set("meta/tags", tensor.Must(tdict.NewData("text"))) }), nil},
		"a bad bool": {change(t, func(td *tdict.TensorDict) error {
			return td.Set("done", tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 1, 2, 0}, 4)))
		}), tensor.ErrDType},
		"a bad mask": {change(t, func(td *tdict.TensorDict) error {
			return td.Set("weight_mask", tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 1, 2, 0}, 4)))
		}), tensor.ErrDType},
		"no elements": {change(t, func(td *tdict.TensorDict) error {
			return td.Set("pos", tensor.Must(tensor.NewMeta(tensor.Float32, 4, 2)))
		}), tensor.ErrMeta},
	} {
		t.Run(name, func(t *testing.T) {
			err := testkit.Err(tensorclass.ToRows[visit](tt.td))
			if tt.want == nil {
				require.Error(t, err)
			} else {
				testkit.Fails(t, tt.want, err)
			}
			v := visit{Patient: "as it was"}
			if tt.td == nil || tt.td.Shape().Size() == 4 && len(tt.td.Shape()) == 1 {
				require.Error(t, tensorclass.Row(tt.td, 2, &v))
			}
			require.Equal(t, visit{Patient: "as it was"}, v)
			for row, err := range tensorclass.Rows[visit](tt.td) {
				require.Error(t, err)
				require.Nil(t, row)
			}
			if tt.td != nil && errors.Is(tt.want, tdict.ErrSchema) {
				before := tensor.Must(tt.td.Clone())
				require.ErrorIs(t, tensorclass.SetRow(tt.td, 0, &v), tt.want)
				require.True(t, tt.td.Equal(before))
			}
		})
	}
}

func TestRefusedCalls(t *testing.T) {
	td := tensor.Must(tensorclass.FromRows(visits(2)))
	t.Run("no such row", func(t *testing.T) { testkit.Fails(t, shapeops.ErrIndex, tensorclass.Row(td, 2, &visit{})) })
	t.Run("no such row to set", func(t *testing.T) { testkit.Fails(t, shapeops.ErrIndex, tensorclass.SetRow(td, -3, &visit{})) })
	t.Run("a nil row", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, tensorclass.Row[visit](td, 0, nil)) })
	t.Run("no number of JSON", func(t *testing.T) {
		testkit.Fails(t, tdict.ErrKind, testkit.Err(tensorclass.FromRows([]visit{{}, {Note: math.NaN()}})))
	})
}

// TestPointerMethods keeps values whose pointer has the methods of JSON.
func TestPointerMethods(t *testing.T) {
	type row struct {
		A big.Int
		B *big.Int `td:"b,mask=m"`
		C [2]big.Int
	}
	rows := []row{{A: *big.NewInt(7)}, {B: big.NewInt(8), C: [2]big.Int{*big.NewInt(1), *big.NewInt(-2)}}}
	require.Equal(t, rows, tensor.Must(tensorclass.ToRows[row](tensor.Must(tensorclass.FromRows(rows)))))
	type column struct {
		A big.Int `td:"a,data"`
	}
	td := tensor.Must(tensorclass.Dict(shapeops.Shape{2}, &column{*big.NewInt(7)}))
	require.Equal(t, column{*big.NewInt(7)}, tensor.Must(tensorclass.View[column](td)))
}

// TestMoreRowsThanMemory reads rows of a dictionary that says that it has as many as no machine.
func TestMoreRowsThanMemory(t *testing.T) {
	const n = 1 << 60
	td := tdict.New(n)
	require.NoError(t, td.Set("id", tensor.Must(tensor.Vector[int64](7).Expand(n))))
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(tensorclass.ToRows[Base](td)))
	type text struct {
		ID   int64
		Text string `td:",optional"`
	}
	require.ErrorIs(t, testkit.Err(tensorclass.ToRows[text](td)), shapeops.ErrShape)
	var last Base
	require.NoError(t, tensorclass.Row(td, -1, &last))
	require.Equal(t, Base{7}, last)
	for row, err := range tensorclass.Rows[Base](td) {
		require.NoError(t, err)
		require.Equal(t, Base{7}, *row)
		break
	}
}

// TestMappedFileGoes closes a dataset within the loop.
func TestMappedFileGoes(t *testing.T) {
	dir := filepath.Join(testkit.TempDir(t), "steps")
	rows, _ := steps(20_000)
	require.NoError(t, memmap.Save(dir, tensor.Must(tensorclass.FromRows(rows))))
	ds := tensor.Must(memmap.Open(dir))
	n, failed := 0, error(nil)
	for row, err := range tensorclass.Rows[step](ds.TensorDict) {
		if err != nil {
			require.Nil(t, row)
			failed = err
			continue
		}
		require.Equal(t, rows[n], *row)
		if n++; n == 10 {
			require.NoError(t, ds.Close())
		}
	}
	require.Error(t, failed)
	require.Less(t, n, len(rows))
	require.Error(t, testkit.Err(tensorclass.ToRows[step](ds.TensorDict)))
}

// TestAllocations pins what is allocated: nothing for a row of numbers.
func TestAllocations(t *testing.T) {
	few, _ := steps(1000)
	many, _ := steps(50_000)
	count := func(rows []step) (from, to, loop float64) {
		td := tensor.Must(tensorclass.FromRows(rows))
		from = testing.AllocsPerRun(5, func() { tensor.Must(tensorclass.FromRows(rows)) })
		to = testing.AllocsPerRun(5, func() { tensor.Must(tensorclass.ToRows[step](td)) })
		loop = testing.AllocsPerRun(5, func() {
			for range tensorclass.Rows[step](td) {
			}
		})
		return from, to, loop
	}
	from, to, loop := count(few)
	moreFrom, moreTo, moreLoop := count(many)
	require.InDelta(t, from, moreFrom, 2)
	require.InDelta(t, to, moreTo, 2)
	require.InDelta(t, loop, moreLoop, 2)
	require.LessOrEqual(t, moreLoop, 80.0)
	view := tenOf(t)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { tensor.Must(tensorclass.View[ten](view)) }), 2.0)
}
