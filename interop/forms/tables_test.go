package forms_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/internal/table/tabletest"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// TestMaskByName: only a schema says that KEY_mask is the mask of KEY. Columns with such names come
// back through each form, with all their values.
func TestMaskByName(t *testing.T) {
	for _, text := range []string{
		"a,a_mask,b\n1,true,x\n2,false,y\n",
		"a_mask,a\ntrue,1\nfalse,2\n",
		"s,s_mask,s_mask_mask\nx,false,true\ny,true,false\n",
		"p.0,p.1,p_mask.0,p_mask.1\n1,2,true,false\n3,4,false,true\n",
	} {
		for _, between := range []string{"d", "d.tdz", "d.tdc", "d.npz", "d.safetensors", "d.jsonl", "d.csv"} {
			t.Run(between, func(t *testing.T) {
				if strings.HasPrefix(text, "a_mask,") && between == "d.safetensors" || strings.Contains(text, "x") && (between == "d.npz" || between == "d.safetensors") {
					t.Skip("it sorts keys, or holds no text")
				}
				dir := testkit.TempDir(t)
				in, mid, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, between), filepath.Join(dir, "out.csv")
				require.NoError(t, os.WriteFile(in, []byte(text), 0o666))
				require.NoError(t, forms.Convert(ctx, mid, []string{in}, forms.Options{}))
				require.NoError(t, forms.Convert(ctx, out, []string{mid}, forms.Options{}))
				require.Equal(t, text, string(tensor.Must(os.ReadFile(out))))
			})
		}
	}
}

// TestListsThroughForms: JSON lines come back through a dataset with null at each depth.
func TestListsThroughForms(t *testing.T) {
	for name, text := range map[string]string{
		"null in a list":                   `{"c":[1,null]} {"c":[2]} {"c":[]}`,
		"null in and for a list":           `{"c":[1,null]} {"c":null} {"c":[]}`,
		"null for inner lists":             `{"c":[[1],null]} {"c":null} {"c":[[],[2,null]]}`,
		"null in lists of texts":           `{"c":["a",null]} {"c":null}`,
		"null in and for objects in lists": `{"c":[{"a":1,"b":[null,2]},null]} {"c":null} {"c":[{"a":null,"b":null}]}`,
		"a name that is taken":             `{"shape":[{"a":null},null]} {"shape":null}`,
		"one in a list of objects":         `{"c":[{"shape":{"device":1}},{"shape":{"device":null}}]} {"c":[]}`,
		"a list of objects after another":  `{"z":0,"b":[{"a":1}],"a":2}`,
	} {
		for _, between := range []string{"d", "d.tdz", "d.tdc", "d.jsonl"} {
			t.Run(name+"/"+between, func(t *testing.T) {
				dir := testkit.TempDir(t)
				in, mid, out := filepath.Join(dir, "in.jsonl"), filepath.Join(dir, between), filepath.Join(dir, "out.jsonl")
				text := strings.ReplaceAll(text, " ", "\n") + "\n"
				require.NoError(t, os.WriteFile(in, []byte(text), 0o666))
				require.NoError(t, forms.Convert(ctx, mid, []string{in}, forms.Options{}))
				require.NoError(t, forms.Convert(ctx, out, []string{mid}, forms.Options{}))
				require.Equal(t, text, string(tensor.Must(os.ReadFile(out))))
			})
		}
	}
}

// TestMaskOfSchema: a mask that inference made is one in conditions, parts and tables, and what
// only looks like one is not, with and without a schema.
func TestMaskOfSchema(t *testing.T) {
	dir := testkit.TempDir(t)
	in := filepath.Join(dir, "in.csv")
	require.NoError(t, os.WriteFile(in, []byte("x,y,y_mask\n0,1,true\nNA,2,false\n3,3,false\n"), 0o666))
	require.NoError(t, forms.Convert(ctx, filepath.Join(dir, "d"), []string{in}, forms.Options{}))
	plain := saved(t, dict(t, []int{3}, tdict.Entries{"x": tensor.Vector[int64](0, 0, 3), "x_mask": tensor.Vector(true, false, true)}))
	for _, tt := range []struct {
		path, where string
		keys        []nestedkey.Key
		want        string
		notes       int
	}{
		{filepath.Join(dir, "d"), "x == 0", nil, "x,y,y_mask\n0,1,true\n", 0},
		{filepath.Join(dir, "d"), "missing(x)", nil, "x,y,y_mask\nNA,2,false\n", 0},
		{filepath.Join(dir, "d"), "y >= 2", nil, "x,y,y_mask\nNA,2,false\n3,3,false\n", 0},
		{in, "y >= 2 and not missing(y)", nil, "x,y,y_mask\nNA,2,false\n3,3,false\n", 0},
		{filepath.Join(dir, "d"), "y >= 0", []nestedkey.Key{"y"}, "y\n1\n2\n3\n", 0},
		{filepath.Join(dir, "d"), "y >= 2", []nestedkey.Key{"x"}, "x\nNA\n3\n", 0},
		{plain, "x == 0", nil, "x,x_mask\n0,true\n0,false\n", 0},
	} {
		t.Run(tt.where, func(t *testing.T) {
			var notes []string
			opt := selecting(tt.keys, nil)
			opt.Select.Where = tensor.Must(where.Parse(tt.where))
			opt.Open.Note = func(text string) { notes = append(notes, text) }
			out := filepath.Join(testkit.TempDir(t), "out.csv")
			require.NoError(t, forms.Slice(ctx, out, tt.path, opt))
			require.Equal(t, tt.want, string(tensor.Must(os.ReadFile(out))))
			require.Len(t, notes, tt.notes, "%q", notes)
		})
	}
}

// TestSplitByMissing: rows without a value are one more group, whatever the values are.
func TestSplitByMissing(t *testing.T) {
	for name, column := range map[string]string{
		"zeros":    "0 NA 1 NA 0 2 0",
		"unsigned": "18446744073709551615 NA 9223372036854775807 NA 18446744073709551615 9223372036854775808 18446744073709551615",
		"negative": "-1 NA -9223372036854775808 NA -1 5 -1",
		"bools":    "true NA false NA true false true",
		"texts":    `"" NA a NA "" b ""`,
		"all used": "0 NA 1 NA 0 3 2",
	} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			in := filepath.Join(dir, "in.csv")
			file, groups := "g,row\n", map[string]bool{}
			for i, value := range strings.Fields(column) {
				file += fmt.Sprintf("%s,%d\n", value, i)
				groups[value] = true
			}
			require.NoError(t, os.WriteFile(in, []byte(file), 0o666))
			counts := make([]int, len(groups))
			for i := range counts {
				counts[i] = 1
			}
			require.NoError(t, forms.Split(ctx, filepath.Join(dir, "parts"), in, forms.SplitOptions{Counts: counts, By: "g"}))
			seen := map[string]bool{}
			for i := range counts {
				td := read(t, filepath.Join(dir, "parts", fmt.Sprint(i)), nil)
				values := map[string]bool{}
				for _, row := range tensor.Must(tdict.Slice[int64](td, "row")) {
					values[strings.Fields(column)[row]] = true
				}
				require.Len(t, values, 1, "a part has one group")
				for value := range values {
					seen[value] = true
				}
			}
			require.Equal(t, groups, seen)
		})
	}
}

// TestEmptyPartIsTold: a part gets no rows, which the sizes did not say.
func TestEmptyPartIsTold(t *testing.T) {
	in := saved(t, counted(t, 4))
	for _, tt := range []struct {
		opt  forms.SplitOptions
		want []string
	}{
		{forms.SplitOptions{Fractions: []float64{0.9, 0.1}, Names: []string{"train", "test"}}, []string{`part "test" has no rows`}},
		{forms.SplitOptions{Counts: []int{4, 0}}, nil},
		{forms.SplitOptions{Fractions: []float64{0.5, 0.5}}, nil},
	} {
		var notes []string
		tt.opt.Open.Note = func(text string) { notes = append(notes, text) }
		require.NoError(t, forms.Split(ctx, filepath.Join(testkit.TempDir(t), "parts"), in, tt.opt))
		require.Equal(t, tt.want, notes)
	}
}

// TestNamesOfTheFormat: a column whose name no entry of a directory can have gets another key, and
// has its name in a table again.
func TestNamesOfTheFormat(t *testing.T) {
	long := strings.Repeat("é", 150)
	for name, text := range map[string]string{
		"in.csv":   "device,shape,_type,device_," + long + "\n1,2,3,4,5\n",
		"in.jsonl": `{"device":1,"shape":{"_type":2,"x":3},"device_":4,"` + long + `":5}` + "\n",
	} {
		for _, between := range []string{"d", "d.tdz", "d.tdc"} {
			t.Run(name+" "+between, func(t *testing.T) {
				dir := testkit.TempDir(t)
				in, mid, out := filepath.Join(dir, name), filepath.Join(dir, between), filepath.Join(dir, "out"+filepath.Ext(name))
				require.NoError(t, os.WriteFile(in, []byte(text), 0o666))
				var notes []string
				opt := forms.Options{Open: forms.OpenOptions{Note: func(text string) { notes = append(notes, text) }}}
				require.NoError(t, forms.Convert(ctx, mid, []string{in}, opt))
				require.NotEmpty(t, notes)
				require.NoError(t, forms.Convert(ctx, out, []string{mid}, forms.Options{}))
				require.Equal(t, text, string(tensor.Must(os.ReadFile(out))))
			})
		}
	}
}

// TestNamesOfFiles: a name in another form that no entry of a directory can have is told with the
// input, not with a temporary directory; it can be renamed or left out.
func TestNamesOfFiles(t *testing.T) {
	dir := testkit.TempDir(t)
	in := filepath.Join(dir, "in.npz")
	require.NoError(t, npy.SaveDict(in, dict(t, []int{2}, tdict.Entries{"device": tensor.Vector[int64](1, 2), "x": tensor.Vector[int64](3, 4)})))
	err := forms.Convert(ctx, filepath.Join(dir, "out"), []string{in}, forms.Options{})
	require.ErrorIs(t, err, memmap.ErrName)
	require.EqualError(t, err, `save `+in+`: key cannot be saved: "device": the format has a field of that name: rename it with Rename, or leave it out with Drop`)
	litter(t, dir, "in.npz")
	opt := forms.Options{Select: forms.Selection{Rename: [][2]nestedkey.Key{{"device", "dev"}}}}
	require.NoError(t, forms.Convert(ctx, filepath.Join(dir, "renamed"), []string{in}, opt))
	require.Equal(t, []int64{1, 2}, tensor.Must(tdict.Slice[int64](read(t, filepath.Join(dir, "renamed"), nil), "dev")))
	require.NoError(t, forms.Slice(ctx, filepath.Join(dir, "without"), in, selecting(nil, []nestedkey.Key{"device"})))
}

// TestTablesComeBack: a table that is written is read back equal, as inferred: int64, uint64,
// float64, bool and text, with masks, and in jsonl with dims and lists too.
func TestTablesComeBack(t *testing.T) {
	for seed := range uint64(40) {
		for _, suffix := range []string{".csv", ".jsonl"} {
			rng := rand.New(rand.NewPCG(seed, 5))
			td, schema := inferable(rng, suffix == ".jsonl")
			dir := testkit.TempDir(t)
			in, table, back, again := filepath.Join(dir, "in"), filepath.Join(dir, "t"+suffix), filepath.Join(dir, "back"), filepath.Join(dir, "again"+suffix)
			require.NoError(t, memmap.SaveWith(ctx, in, td, memmap.SaveOptions{Schema: schema}))
			nested := forms.Options{Open: forms.OpenOptions{CSV: csv.Format{Separator: "/"}}}
			require.NoError(t, forms.Convert(ctx, table, []string{in}, nested))
			require.NoError(t, forms.Convert(ctx, back, []string{table}, nested))
			require.NoError(t, forms.Convert(ctx, again, []string{back}, nested))
			require.Equal(t, string(tensor.Must(os.ReadFile(table))), string(tensor.Must(os.ReadFile(again))))
			require.Equal(t, tabletest.Bits(td), tabletest.Bits(read(t, back, nil)), "seed %d: %s", seed, tensor.Must(os.ReadFile(table)))
		}
	}
}

// inferable returns random rows whose dtypes inference finds, and their schema.
func inferable(rng *rand.Rand, lists bool) (*tdict.TensorDict, tdict.Schema) {
	n := 3 + rng.IntN(20)
	td, schema := tdict.New(n), tdict.Schema{}
	for i := range 2 + rng.IntN(6) {
		key := nestedkey.Of([]string{"a", "b_mask", "é x"}[rng.IntN(3)], fmt.Sprint(i))
		present := make([]bool, n)
		some := rng.IntN(2) == 0
		for row := range present {
			present[row] = row < 2 || !some || rng.IntN(3) > 0
		}
		present[n-1] = !some
		v := column(rng, present, lists)
		spec := tdict.Spec{Key: key, Optional: some}
		if err := td.Set(key, v); err != nil {
			panic(err)
		}
		switch v := v.(type) {
		case *tensor.Tensor:
			spec.DType = v.DType()
		case *ragged.Tensor:
			if spec.Kind, spec.DType, spec.Depth = tdict.KindRagged, v.DType(), v.Depth(); spec.DType == tensor.Uint8 {
				spec.Kind, spec.DType, spec.Depth = tdict.KindText, 0, 0
			}
		}
		if schema = append(schema, spec); some {
			if err := td.Set(key+"_mask", tensor.Vector(present...)); err != nil {
				panic(err)
			}
			schema = append(schema, tdict.Spec{Key: key + "_mask", DType: tensor.Bool})
		}
	}
	return td, schema
}

// column returns a random column, zero where it is not present.
func column(rng *rand.Rand, present []bool, lists bool) tdict.Value {
	kinds := 5
	if lists {
		kinds = 6
	}
	n := len(present)
	switch rng.IntN(kinds) {
	case 0:
		return tensor.Vector(whereValid(present, func(int) int64 { return int64(rng.Uint64()) >> rng.IntN(64) })...)
	case 1:
		return tensor.Vector(whereValid(present, func(row int) uint64 { return rng.Uint64()>>rng.IntN(64) | 1<<63*uint64(1-min(row, 1)) })...)
	case 2:
		special := []float64{0, math.Copysign(0, -1), 1, -2, 1e15, 1e22, math.MaxFloat64, 5e-324, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, 0.1}
		return tensor.Vector(whereValid(present, func(int) float64 {
			if rng.IntN(2) == 0 {
				return special[rng.IntN(len(special))]
			}
			return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(40)-20))
		})...)
	case 3:
		return tensor.Vector(whereValid(present, func(int) bool { return rng.IntN(2) == 0 })...)
	case 4:
		return tensor.Must(ragged.FromStrings(whereValid(present, func(row int) string {
			if row == 0 {
				return "text"
			}
			return tabletest.Texts[rng.IntN(len(tabletest.Texts))]
		})))
	}
	rows := whereValid(present, func(row int) []float64 {
		list := make([]float64, min(row, 1)*rng.IntN(4)+2*(1-min(row, 1)))
		for i := range list {
			list[i] = float64(rng.IntN(5))
		}
		return list
	})
	if n > 1 {
		rows[1] = nil
	}
	for i := range rows {
		if rows[i] == nil {
			rows[i] = []float64{}
		}
	}
	return tensor.Must(ragged.From[float64](rows))
}

// whereValid returns a value of make for each row that is present.
func whereValid[T any](present []bool, make_ func(row int) T) []T {
	all := make([]T, len(present))
	for row := range all {
		if present[row] {
			all[row] = make_(row)
		}
	}
	return all
}

// TestStacksAndTables: no form but a dataset holds a stack. That is a loss that is told before
// anything is written; with Lossy the rest is written, also of a dictionary that has nothing else.
func TestStacksAndTables(t *testing.T) {
	member := func(n int) *tdict.TensorDict {
		return tensor.Must(tdict.FromMap(nil, tdict.Entries{"x": tensor.Must(tensor.Zeros[int8](n)), "y": tensor.Scalar(1.5)}))
	}
	td := dict(t, []int{2}, tdict.Entries{"k": tensor.Vector[int64](7, 8), "z": tensor.Must(tdict.LazyStack([]*tdict.TensorDict{member(3), member(5)}, 0))})
	in := saved(t, td)
	for name, want := range map[string]string{"o.jsonl": "{\"k\":7}\n{\"k\":8}\n", "o.csv": "k\n7\n8\n", "o.npz": "", "o.nrt": "", "o.safetensors": ""} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			out := filepath.Join(dir, name)
			err := forms.Convert(ctx, out, []string{in}, forms.Options{})
			require.ErrorIs(t, err, forms.ErrLoss)
			require.ErrorContains(t, err, `"z/x": stacked`)
			litter(t, dir)
			require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{Lossy: true}))
			got := string(tensor.Must(os.ReadFile(out)))
			if want != "" {
				require.Equal(t, want, got)
			}
			require.Equal(t, []int64{7, 8}, tensor.Must(tdict.Slice[int64](read(t, out, nil), "k")))
		})
	}
}

// TestDataInTables: Data with a text, a number or a bool for each row is a column; nil is missing.
// Other Data is a loss.
func TestDataInTables(t *testing.T) {
	data := func(values ...any) *tdict.Data { return tensor.Must(tdict.DataFrom(values, len(values))) }
	in := saved(t, dict(t, []int{2}, tdict.Entries{
		"name": data("ann", "NA"), "n/age": data(int64(3), nil), "w": data(0.5, 1.0), "ok": data(true, false), "one": tensor.Must(tdict.NewData("x", 2)),
	}))
	for name, want := range map[string]string{
		"o.jsonl": `{"n":{"age":3},"name":"ann","ok":true,"one":"x","w":0.5}` + "\n" + `{"n":{"age":null},"name":"NA","ok":false,"one":"x","w":1.0}` + "\n",
		"o.csv":   "n/age,name,ok,one,w\n3,ann,true,x,0.5\nNA,\"NA\",false,x,1.0\n",
	} {
		for _, slice := range []bool{false, true} {
			out := filepath.Join(testkit.TempDir(t), name)
			var err error
			if slice {
				err = forms.Slice(ctx, out, in, selecting([]nestedkey.Key{"n/age", "name", "ok", "one", "w"}, nil))
			} else {
				err = forms.Convert(ctx, out, []string{in}, forms.Options{})
			}
			require.NoError(t, err)
			require.Equal(t, want, string(tensor.Must(os.ReadFile(out))))
		}
	}
	named := saved(t, dict(t, []int{2}, tdict.Entries{"s": data("ann", "bob"), "s_mask": tensor.Vector(true, false)}))
	out := filepath.Join(testkit.TempDir(t), "o.csv")
	require.NoError(t, forms.Convert(ctx, out, []string{named}, forms.Options{}))
	require.Equal(t, "s,s_mask\nann,true\nbob,false\n", string(tensor.Must(os.ReadFile(out))), "a bool of that name is no mask")
	named = saved(t, dict(t, []int{2}, tdict.Entries{"s": data("ann", nil), "s_mask": tensor.Vector(true, false)}))
	out = filepath.Join(testkit.TempDir(t), "o.csv")
	require.NoError(t, forms.Convert(ctx, out, []string{named}, forms.Options{}))
	require.Equal(t, "s,s_mask\nann,true\nNA,false\n", string(tensor.Must(os.ReadFile(out))), "its mask gets another name")
	for _, values := range [][]any{{"a", int64(1)}, {nil, nil}, {[]any{"a"}, []any{"b", "c"}}} {
		in := saved(t, dict(t, []int{2}, tdict.Entries{"d": data(values...)}))
		require.ErrorIs(t, forms.Convert(ctx, filepath.Join(testkit.TempDir(t), "o.jsonl"), []string{in}, forms.Options{}), forms.ErrLoss)
	}
}

// TestAsPandas reads what pandas 2 reads by read_csv(na_values=["NA", ""], keep_default_na=False),
// printed as JSON lines. A column of integers with missing values stays one, and a float has all
// its digits; pandas makes the first float64 and cuts the second.
func TestAsPandas(t *testing.T) {
	for name, tt := range map[string]struct{ csv, want string }{
		"CR alone":               {"a,b\r1,2\r3,4\r", `{"a":1,"b":2}|{"a":3,"b":4}|`},
		"CRLF and quotes":        {"a,s\r\n1,\"x\r\ny\"\r\n2,\"q\"\"q\"\r\n", `{"a":1,"s":"x\r\ny"}|{"a":2,"s":"q\"q"}|`},
		"CR CR LF":               {"a,b\r\r\n1,2\r\r\n", `{"a":1,"b":2}|`},
		"missing":                {"a,s,b\n1,x,True\nNA,NA,False\n,,True\n", `{"a":1,"s":"x","b":true}|{"a":null,"s":null,"b":false}|{"a":null,"s":null,"b":true}|`},
		"quoted missing numbers": {"a\n1\n\"NA\"\n\"\"\n", `{"a":1}|{"a":null}|{"a":null}|`},
		"all quoted":             {"\"a\",\"b\"\n\"1\",\"x\"\n\"2\",\"y\"\n", `{"a":1,"b":"x"}|{"a":2,"b":"y"}|`},
		"floats":                 {"a\n1\n2.5\n-1e3\n1e300\n5e-324\n", `{"a":1}|{"a":2.5}|{"a":-1000}|{"a":1e+300}|{"a":5e-324}|`},
		"uint64":                 {"a\n0\n18446744073709551615\n", `{"a":0}|{"a":18446744073709551615}|`},
		"mixed":                  {"a\n1\nx\n", `{"a":"1"}|{"a":"x"}|`},
		"blanks in text":         {"s\n a \nb\n", `{"s":" a "}|{"s":"b"}|`},
		"the last field empty":   {"a,b\n1,\n2,3\n", `{"a":1,"b":null}|{"a":2,"b":3}|`},
		"no rows":                {"a,b\n", ""},
		"empty lines":            {"a,b\n\n1,2\n\n", `{"a":1,"b":2}|`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := testkit.TempDir(t)
			in, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.jsonl")
			require.NoError(t, os.WriteFile(in, []byte(tt.csv), 0o666))
			require.NoError(t, forms.Convert(ctx, out, []string{in}, forms.Options{}))
			require.Equal(t, tt.want, strings.ReplaceAll(string(tensor.Must(os.ReadFile(out))), "\n", "|"))
		})
	}
}

// TestByteForByte: real and made tables come back as they were, through each form of datasets.
func TestByteForByte(t *testing.T) {
	file, err := os.Open("../../examples/internal/data/pbcseq.csv.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	visits, err := io.ReadAll(unzipped)
	require.NoError(t, err)
	zipped := tensor.Must(os.ReadFile("../../examples/internal/data/pbcseq.csv.gz"))
	orders := `km/h,device,,,a,a,"x, ""y""",pos.0,pos.1,shop,day,at,n,big,id,ok,whole,dotted` + "\n" +
		`1,2,3,4,5,6,"a` + "\n" + `b",1,2.5,Oslo,2024-02-29,2024-02-29T12:30:00.250Z,NA,9223372036854775808,007,true,2,2.0` + "\n" +
		`-1,2,3,4,5,6,"NA",-3,4,Rome,0001-01-01,1969-12-31T23:59:59.999Z,7,0,1_000,false,2.5,-1.5` + "\n" +
		`0,2,3,4,5,6,NA,0,1e-300,NA,NA,9999-12-31T00:00:00.000Z,-7,1,0x10,NA,NA,NA` + "\n"
	patients := `{"name":"Ann","device":{"type":1},"codes":[{"name":"a","day":"2024-01-03","tests":[{"v":1.5},{"v":2}]},{"name":null,"day":"2024-01-04","tests":[]}],"words":["x",""],"grid":[[1,2],[3,4]]}` + "\n" +
		`{"name":null,"device":{"type":2},"codes":[],"words":[],"grid":[[5,6],[7,8]]}` + "\n" +
		`{"name":"é\"\n","device":{"type":null},"codes":null,"words":null,"grid":null}` + "\n"
	categories := csv.Hints{Categories: map[nestedkey.Key]bool{"shop": true}}
	for name, tt := range map[string]struct {
		suffix string
		bytes  []byte
		want   string
		hints  csv.Hints
	}{
		"pbcseq":            {".csv", visits, string(visits), csv.Hints{}},
		"pbcseq compressed": {".csv.gz", zipped, string(visits), csv.Hints{}},
		"orders":            {".csv", []byte(orders), orders, categories},
		"patients":          {".jsonl", []byte(patients), patients, csv.Hints{}},
	} {
		for _, between := range []string{"d", "d.tdz", "d.tdc"} {
			t.Run(name+" "+between, func(t *testing.T) {
				dir := testkit.TempDir(t)
				in, mid, out := filepath.Join(dir, "in"+tt.suffix), filepath.Join(dir, between), filepath.Join(dir, "out"+strings.TrimSuffix(tt.suffix, ".gz"))
				require.NoError(t, os.WriteFile(in, tt.bytes, 0o666))
				require.NoError(t, forms.Convert(ctx, mid, []string{in}, forms.Options{Open: forms.OpenOptions{Hints: tt.hints}}))
				require.NoError(t, forms.Convert(ctx, out, []string{mid}, forms.Options{}))
				require.Equal(t, tt.want, string(tensor.Must(os.ReadFile(out))))
			})
		}
	}
}

// TestRenameKeepsMasks renames a column with missing values: its mask is still its mask.
func TestRenameKeepsMasks(t *testing.T) {
	for _, suffix := range []string{".csv", ".jsonl", ""} {
		dir := testkit.TempDir(t)
		in, mid, out := filepath.Join(dir, "in.csv"), filepath.Join(dir, "mid"+suffix), filepath.Join(dir, "out.csv")
		require.NoError(t, os.WriteFile(in, []byte("x,y\n1,NA\n2,3\n"), 0o666))
		require.NoError(t, forms.Convert(ctx, mid, []string{in}, forms.Options{Select: forms.Selection{Rename: [][2]nestedkey.Key{{"y", "z"}}}}))
		require.NoError(t, forms.Convert(ctx, out, []string{mid}, forms.Options{}))
		require.Equal(t, "x,z\n1,NA\n2,3\n", string(tensor.Must(os.ReadFile(out))))
	}
}
