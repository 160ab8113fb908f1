package transform_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/transform"
)

// TestDataComesBackExactly by way of a saved dataset, whatever the numbers, shapes and keys.
func TestDataComesBackExactly(t *testing.T) {
	td := tdict.New(3)
	for key, x := range map[nestedkey.Key]*tensor.Tensor{
		"thirds": tensor.Vector(1./3, 2./3, 1e-7/3),
		"a/b/c":  tensor.Must(tensor.From([]float64{0, 1e308, 1e-308, math.Pi, 1e22, -5, math.Copysign(0, -1), 1e100, 3}, 3, 3, 1)),
		"whole":  tensor.Vector[float32](4, 4, 4),
		"minus":  tensor.Vector(math.Copysign(0, -1), nan, nan),
		"none":   tensor.Must(tensor.Zeros[float32](3, 0)),
	} {
		require.NoError(t, td.Set(key, x))
	}
	require.NoError(t, td.Set(nestedkey.Of("km/h \"ü\""), tensor.Vector(1., 2, 3)))
	s := tensor.Must(transform.FitStandard(td.Exclude("a"), nil))
	require.NoError(t, td.Set("stats", tensor.Must(s.Data())))

	dir := filepath.Join(t.TempDir(), "ds")
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	back := tensor.Must(transform.StandardFrom(tensor.Must(tdict.Get[*tdict.Data](ds.TensorDict, "stats"))))
	require.Empty(t, tensor.Must(s.Mean().Diff(back.Mean())))
	require.Empty(t, tensor.Must(s.Std().Diff(back.Std())))
	require.True(t, tensor.Must(s.Data()).Equal(tensor.Must(back.Data())))
	require.Equal(t, s.String(), back.String())
}

// TestDataRecordsLevels of leaves that were ragged, by way of a saved dataset.
func TestDataRecordsLevels(t *testing.T) {
	td := tdict.New(2)
	x := tensor.Must(tensor.From([]float32{2, 0.25, 5, 0.25}, 2, 2))
	require.NoError(t, td.Set("labs", x))
	require.NoError(t, td.Set("visit/labs", tensor.Must(ragged.FromLengths(x, []int64{2, 0}, []int64{1, 1}))))
	require.NoError(t, td.Set("per/channel", tensor.Must(ragged.New(x, tensor.Must(ragged.LayoutOf(shapeops.Shape{2, 1}, []int64{0, 2}))))))
	require.NoError(t, td.Set("no/level", tensor.Must(ragged.New(x, tensor.Must(ragged.NewLayout(shapeops.Shape{2}))))))
	s := tensor.Must(transform.FitStandard(td, nil))
	require.NoError(t, td.Set("stats", tensor.Must(s.Data())))
	dir := filepath.Join(t.TempDir(), "ds")
	require.NoError(t, memmap.Save(dir, td))
	ds := tensor.Must(memmap.Open(dir))
	defer ds.Close()
	data := tensor.Must(tdict.Get[*tdict.Data](ds.TensorDict, "stats"))
	value, _ := data.Uniform()
	const labs = `"shape": [2], "mean": [3.5, 0.25], "std": [1.5, 1.0]`
	require.JSONEq(t, `{"transform": "standard", "leaves": {"labs": {`+labs+`}, "no/level": {`+labs+`},
		"visit/labs": {`+labs+`, "levels": 2}, "per/channel": {`+labs+`, "levels": 2}}}`, value.(*tdict.Object).String())

	back := tensor.Must(transform.StandardFrom(data))
	require.True(t, tensor.Must(s.Data()).Equal(tensor.Must(back.Data())))
	want := tensor.Must(s.Apply(td, transform.Draw{}))
	require.True(t, want.Equal(tensor.Must(back.Apply(td, transform.Draw{}))))
	require.False(t, want.Equal(td))
}

// TestDataWithoutLevels is what earlier versions wrote: columns are all dims after the batch shape.
func TestDataWithoutLevels(t *testing.T) {
	s := tensor.Must(transform.StandardFrom(tensor.Must(fromJSON([]byte(
		`{"transform":"standard","leaves":{"labs":{"shape":[2],"mean":[3.5,0.25],"std":[1.5,1.0]}}}`)))))
	x := tensor.Must(tensor.From([]float64{2, 0.25, 5, 0.25}, 2, 2))
	require.Equal(t, []float64{-1, 0, 1, 0}, in64(t, tensor.Must(s.Apply(with(t, x, 2), transform.Draw{}))))
	lists := with(t, tensor.Must(ragged.FromLengths(x, []int64{0, 2})), 2)
	out := tensor.Must(tdict.Get[*ragged.Tensor](tensor.Must(s.Apply(lists, transform.Draw{})), "labs"))
	require.Equal(t, []float64{-1, 0, 1, 0}, wide(t, out))
	testkit.Fails(t, shapeops.ErrShape, testkit.Err(s.Apply(with(t, tensor.Must(x.Unsqueeze(1)), 2), transform.Draw{})))
}

func TestDataOfNoStatistics(t *testing.T) {
	data := tensor.Must((&transform.Standard{}).Data())
	require.Equal(t, "standard: 0 columns", tensor.Must(transform.StandardFrom(data)).String())
}

func TestDataIsWhatItSays(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("labs", tensor.Must(tensor.From([]float32{2, 0.25, 5, 0.25}, 2, 2))))
	value, _ := tensor.Must(tensor.Must(transform.FitStandard(td, nil)).Data()).Uniform()
	require.JSONEq(t, `{"transform": "standard", "leaves": {"labs": {"shape": [2], "mean": [3.5, 0.25], "std": [1.5, 1.0]}}}`,
		value.(*tdict.Object).String())
}

// fromJSON returns a text as data, integers as int64.
func fromJSON(text []byte) (*tdict.Data, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return tdict.NewData(withNumbers(v))
}

func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, item := range v {
			v[name] = withNumbers(item)
		}
	case []any:
		for i, item := range v {
			v[i] = withNumbers(item)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}

func TestStandardFromRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		is         error
	}{
		{"a number", `7`, tdict.ErrKind},
		{"another object", `{"leaves":{}}`, tdict.ErrKind},
		{"another transform", `{"transform":["standard"],"leaves":{}}`, tdict.ErrKind},
		{"no leaves", `{"transform":"standard"}`, tdict.ErrKind},
		{"leaves of a list", `{"transform":"standard","leaves":[]}`, tdict.ErrKind},
		{"a leaf of null", `{"transform":"standard","leaves":{"x":null}}`, tdict.ErrKind},
		{"a leaf without shape", leaf(`"mean":[1],"std":[1]`), tdict.ErrKind},
		{"a leaf without deviations", leaf(`"shape":[1],"mean":[1]`), tdict.ErrKind},
		{"a mean of text", leaf(`"shape":[1],"mean":["1"],"std":[1]`), tdict.ErrKind},
		{"a shape of fractions", leaf(`"shape":[1.5],"mean":[1],"std":[1]`), tdict.ErrKind},
		{"a negative shape", leaf(`"shape":[-1],"mean":[1],"std":[1]`), shapeops.ErrShape},
		{"a shape beyond memory", leaf(`"shape":[4611686018427387904,4611686018427387904],"mean":[1],"std":[1]`), shapeops.ErrShape},
		{"too few means", leaf(`"shape":[2],"mean":[1],"std":[1,1]`), shapeops.ErrShape},
		{"too many deviations", leaf(`"shape":[1],"mean":[1],"std":[1,1]`), shapeops.ErrShape},
		{"a deviation of zero", leaf(`"shape":[2],"mean":[1,1],"std":[1,0]`), transform.ErrNumber},
		{"a negative deviation", leaf(`"shape":[],"mean":[1],"std":[-1]`), transform.ErrNumber},
		{"an infinite mean", leaf(`"shape":[],"mean":[1e999],"std":[1]`), transform.ErrNumber},
		{"levels of text", leaf(`"shape":[],"mean":[1],"std":[1],"levels":"1"`), tdict.ErrKind},
		{"levels of null", leaf(`"shape":[],"mean":[1],"std":[1],"levels":null`), tdict.ErrKind},
		{"half a level", leaf(`"shape":[],"mean":[1],"std":[1],"levels":0.5`), tdict.ErrKind},
		{"negative levels", leaf(`"shape":[],"mean":[1],"std":[1],"levels":-1`), shapeops.ErrShape},
		{"a bad key", strings.Replace(leaf(`"shape":[],"mean":[1],"std":[1]`), `"x"`, `"x~"`, 1), nestedkey.ErrKey},
		{"a key below a leaf", strings.Replace(leaf(`"shape":[],"mean":[1],"std":[1]`), `{"x"`, `{"x":{"shape":[],"mean":[1],"std":[1]},"x/y"`, 1), tdict.ErrNotDict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, tt.is, testkit.Err(transform.StandardFrom(tensor.Must(fromJSON([]byte(tt.text))))))
		})
	}
	rows := tensor.Must(tdict.DataFrom([]string{"one", "another"}, 2))
	for name, d := range map[string]*tdict.Data{"nil": nil, "rows that differ": rows, "no rows": tensor.Must(tdict.DataFrom([]string{}, 0))} {
		t.Run(name, func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, testkit.Err(transform.StandardFrom(d))) })
	}
}

func leaf(fields string) string { return `{"transform":"standard","leaves":{"x":{` + fields + `}}}` }

// FuzzStandardFrom reads anything: it must not panic, and what it reads comes back, and applies.
func FuzzStandardFrom(f *testing.F) {
	f.Add([]byte(leaf(`"shape":[2],"mean":[1,2.5],"std":[1,3]`)))
	f.Add([]byte(leaf(`"shape":[],"mean":[-1e300],"std":[1e-300]`)))
	f.Add([]byte(leaf(`"shape":[0,9],"mean":[],"std":[]`)))
	f.Add([]byte(leaf(`"shape":[1],"mean":[1],"std":[2],"levels":2`)))
	f.Add([]byte(leaf(`"shape":[1],"mean":[1],"std":[2],"levels":9223372036854775807`)))
	f.Add([]byte(`{"transform":"standard","leaves":{"a/b":{"shape":[1],"mean":[1],"std":[2]},"a/c":{"shape":[1],"mean":[1],"std":[2]}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := fromJSON(text)
		if err != nil {
			return
		}
		s, err := transform.StandardFrom(d)
		if err != nil {
			return
		}
		back := tensor.Must(transform.StandardFrom(tensor.Must(s.Data())))
		require.True(t, s.Mean().Equal(back.Mean()) && s.Std().Equal(back.Std()))
		require.True(t, tensor.Must(s.Data()).Equal(tensor.Must(back.Data())))
		_ = tensor.Must(s.Apply(s.Mean(), transform.Draw{}))
	})
}
