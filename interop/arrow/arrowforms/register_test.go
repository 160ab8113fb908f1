package arrowforms_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/arrow/arrowforms"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Example takes a table to a Parquet file and back.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	csv, parquet, back := filepath.Join(dir, "visits.csv"), filepath.Join(dir, "visits.parquet"), filepath.Join(dir, "back.csv")
	err = os.WriteFile(csv, []byte("name,age\nann,54\nbob,NA\n"), 0o666)
	if err != nil {
		log.Fatal(err)
	}

	arrowforms.Register()
	if err := forms.Convert(context.Background(), parquet, []string{csv}, forms.Options{}); err != nil {
		log.Fatal(err)
	}
	if err := forms.Convert(context.Background(), back, []string{parquet}, forms.Options{}); err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(back)
	fmt.Print(string(text), err)
	// Output:
	// name,age
	// ann,54
	// bob,NA
	// <nil>
}

// TestForms takes tables through both forms: what csv and jsonl hold comes back the same, and a
// dataset keeps its schema.
func TestForms(t *testing.T) {
	arrowforms.Register()
	for name, text := range map[string]string{
		"a.csv":     "name,age,bmi,seen,at,ok\nann,54,22.5,2020-01-02,2020-01-02T03:04:05Z,true\n\"b,c\",NA,NA,NA,NA,false\n",
		"b.csv":     "shape,x.0,x.1\n1,2,3\n4,5,6\n",
		"c.jsonl":   `{"c":[1,null],"t":["a","b"],"d":{"x":1.5}}` + "\n" + `{"c":null,"t":[],"d":{"x":null}}` + "\n",
		"d.jsonl":   `{"c":[{"a":1,"b":[2,3]},null]}` + "\n" + `{"c":null}` + "\n" + `{"c":[]}` + "\n",
		"e.jsonl":   `{"c":[[1],[2,3]]}` + "\n" + `{"c":[]}` + "\n",
		"empty.csv": "a,b\n",
	} {
		for _, suffix := range []string{".arrow", ".parquet"} {
			t.Run(name+suffix, func(t *testing.T) {
				dir := testkit.TempDir(t)
				in, mid, out := filepath.Join(dir, name), filepath.Join(dir, "mid"+suffix), filepath.Join(dir, "out"+filepath.Ext(name))
				require.NoError(t, os.WriteFile(in, []byte(text), 0o666))
				var last int64
				opt := forms.Options{Progress: func(done, total int64) { last = done - total }}
				require.NoError(t, forms.Convert(t.Context(), mid, []string{in}, opt))
				require.NoError(t, forms.Convert(t.Context(), out, []string{mid}, opt))
				require.Zero(t, last)
				require.Equal(t, text, string(tensor.Must(os.ReadFile(out))))

				direct, through := filepath.Join(dir, "direct"), filepath.Join(dir, "through")
				require.NoError(t, forms.Convert(t.Context(), direct, []string{in}, forms.Options{}))
				require.NoError(t, forms.Convert(t.Context(), mid, []string{direct}, forms.Options{Force: true}))
				require.NoError(t, forms.Convert(t.Context(), through, []string{mid}, forms.Options{}))
				a, b := tensor.Must(memmap.Open(direct)), tensor.Must(memmap.Open(through))
				defer a.Close()
				defer b.Close()
				require.Equal(t, string(tensor.Must(a.Schema().MarshalJSON())), string(tensor.Must(b.Schema().MarshalJSON())))
				require.True(t, a.Equal(b.TensorDict))
			})
		}
	}
}

// TestSelection reads only the columns of the keys: others may be damaged.
func TestSelection(t *testing.T) {
	arrowforms.Register()
	dir := testkit.TempDir(t)
	in, mid, out := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.parquet"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(in, []byte("a,b,c\n1,NA,x\n2,3,y\n"), 0o666))
	require.NoError(t, forms.Convert(t.Context(), mid, []string{in}, forms.Options{}))
	opt := forms.Options{Select: forms.Selection{Keys: []nestedkey.Key{"b"}, Rename: [][2]nestedkey.Key{{"b", "d"}}}}
	require.NoError(t, forms.Convert(t.Context(), out, []string{mid, mid}, opt))
	require.Equal(t, "d\nNA\n3\nNA\n3\n", string(tensor.Must(os.ReadFile(out))))
	err := forms.Convert(t.Context(), filepath.Join(dir, "no"), []string{mid}, forms.Options{Select: forms.Selection{Keys: []nestedkey.Key{"z"}}})
	require.ErrorContains(t, err, `"z"`)
	require.NoError(t, os.WriteFile(mid, []byte("PAR1 and then nothing"), 0o666))
	err = forms.Convert(t.Context(), filepath.Join(dir, "no"), []string{mid}, forms.Options{})
	require.ErrorContains(t, err, mid)
}

// TestSeveral joins files of which only some have missing values, in any order. A column that only
// one of them has is an error in any order.
func TestSeveral(t *testing.T) {
	arrowforms.Register()
	const plain, nulls, more = "{\"d\":{\"a\":1},\"c\":1}\n", "{\"d\":null,\"c\":2}\n{\"d\":{\"a\":3},\"c\":null}\n", "{\"d\":{\"a\":1},\"c\":1,\"e\":2}\n"
	for _, suffix := range []string{".arrow", ".parquet"} {
		dir := testkit.TempDir(t)
		convert := func(out string, in ...string) (string, error) {
			for i := range in {
				in[i] = filepath.Join(dir, in[i])
			}
			out = filepath.Join(dir, out)
			err := forms.Convert(t.Context(), out, in, forms.Options{Force: true})
			text, _ := os.ReadFile(out)
			return string(text), err
		}
		for name, text := range map[string]string{"plain": plain, "nulls": nulls, "more": more} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o666))
			_, err := convert(name+suffix, name+".jsonl")
			require.NoError(t, err)
		}
		got, err := convert("out.jsonl", "plain"+suffix, "nulls"+suffix)
		require.NoError(t, err)
		require.Equal(t, plain+nulls, got)
		got, err = convert("out.jsonl", "nulls"+suffix, "plain"+suffix)
		require.NoError(t, err)
		require.Equal(t, nulls+plain, got)
		_, err = convert("out.jsonl", "plain"+suffix, "more"+suffix)
		require.ErrorIs(t, err, tdict.ErrSchema)
		require.ErrorContains(t, err, `"e"`)
		_, err = convert("out.jsonl", "more"+suffix, "plain"+suffix)
		require.ErrorContains(t, err, `"e"`)
		for _, files := range [][]string{{"mask", "column"}, {"column", "mask"}} { // c_mask is a mask in one of them
			require.NoError(t, os.WriteFile(filepath.Join(dir, "mask.jsonl"), []byte("{\"c\":1}\n{\"c\":null}\n"), 0o666))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "column.jsonl"), []byte("{\"c\":null,\"c_mask\":false}\n{\"c\":2,\"c_mask\":true}\n"), 0o666))
			for _, name := range files {
				_, err := convert(name+suffix, name+".jsonl")
				require.NoError(t, err)
			}
			_, err = convert("out.jsonl", files[0]+suffix, files[1]+suffix)
			require.ErrorContains(t, err, `"c_mask"`)
		}
	}
}

// TestMissingNaN writes no column of a mask that the rows do not have any more.
func TestMissingNaN(t *testing.T) {
	arrowforms.Register()
	dir := testkit.TempDir(t)
	in, mid, out := filepath.Join(dir, "a.csv"), filepath.Join(dir, "a.arrow"), filepath.Join(dir, "out.csv")
	require.NoError(t, os.WriteFile(in, []byte("x\n1.5\nNA\n"), 0o666))
	require.NoError(t, forms.Convert(t.Context(), mid, []string{in}, forms.Options{MissingNaN: true}))
	require.NoError(t, forms.Convert(t.Context(), out, []string{mid}, forms.Options{}))
	require.Equal(t, "x\n1.5\nNaN\n", string(tensor.Must(os.ReadFile(out))))
}
