package tabletest_test

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/table"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCounts: a column has the dtype that holds every value, or is text for a reason.
func TestCounts(t *testing.T) {
	tests := []struct{ name, values, want string }{ // of lines; t is a bool, n/a a text, W and w words
		{"integers", "-7 12 +13", "int64 integers from -7 to +13"},
		{"integers beyond int64", "0 18446744073709551615", "uint64 integers from 0 to 18446744073709551615"},
		{"a sign beside integers beyond int64", "-0 18446744073709551615", "no dtype holds both -0 and 18446744073709551615"},
		{"a plus beside integers beyond int64", "+5 18446744073709551615", "no dtype holds both +5 and 18446744073709551615"},
		{"integers beyond uint64", "1 18446744073709551616 -18446744073709551616", "no dtype holds 18446744073709551616 in line 2"},
		{"an integer beyond float64 beside an exponent", "135217135789158401 1352171357E+5", "float64 would round 135217135789158401 in line 1, and 1352171357E+5 in line 2 is not an integer"},
		{"and beside a word", "-9007199254740993 w", "float64 would round -9007199254740993 in line 1, and w in line 2 is not an integer"},
		{"a fraction that float64 drops", "9007199254740993.5", "float64 would round 9007199254740993.5 in line 1, and 9007199254740993.5 in line 1 is not an integer"},
		{"large integers that float64 holds", "9007199254740994 9007199254740992.0 152921504606847000 100000000000000000000 1e300", "float64 numbers from 9007199254740992.0 to 1e300"},
		{"a number that vanishes, after an integer beyond uint64", "18446744073709551616 1e-400", "float64 does not hold 1e-400 in line 2"},
		{"a number that overflows", "1 1e400", "float64 does not hold 1e400 in line 2"},
		{"NaN among numbers", "1 NaN -Inf 2.5 -1e3", "float64 numbers from -1e3 to 2.5"},
		{"a long fraction", "0.1000000000000000055511151231257827021181583404541015625", "float64 numbers from 0.100000000000000005 ... 21181583404541015625 to 0.100000000000000005 ... 21181583404541015625"},
		{"words as Write spells them", "W W", "float64 no numbers but NaN and infinities"},
		{"other words alone", "W w", ""},
		{"bools", "t t", "bool true or false"},
		{"bools and numbers", "t 1", ""},
		{"a text among nine numbers", "1 2 3 4 5 6 7 n/a 8 9", `1 of 10 values are not numbers, first "n/a" in line 8`},
		{"a text among fewer", "1 2 n/a", ""},
		{"nothing", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c, first table.Counts
			for i, text := range strings.Fields(tt.values) {
				switch {
				case text == "t":
					c.Bools++
				case strings.EqualFold(text, "w"):
					c.Word([]byte(text), i+1, text == "W")
				case !c.Number([]byte(text), i+1):
					c.Text([]byte(text), i+1)
				}
				if i == 0 {
					first, c = c, table.Counts{}
				}
			}
			c.Merge(&first)
			d, what := c.DType()
			if d == 0 {
				what = c.Why()
			} else {
				what = d.String() + " " + what
			}
			require.Equal(t, tt.want, what)
		})
	}
}

// column returns a table of one column.
func column(t testing.TB, s tdict.Spec, opt table.Options) (*table.Table, *table.Column) {
	t.Helper()
	s.Key = "k"
	x, err := table.New(tdict.Schema{s}, opt)
	require.NoError(t, err)
	return x, x.Column("k")
}

func TestTexts(t *testing.T) {
	tests := []struct {
		dtype      tensor.DType
		text, want string // "" if it reads back as it is
	}{
		{tensor.Bool, "0", "false"}, {tensor.Bool, "T", "true"}, {tensor.Int8, "+7", "7"}, {tensor.Int8, "007", "7"},
		{tensor.Float64, "0.1", ""}, {tensor.Float64, "-0", "-0.0"}, {tensor.Float64, "1", "1.0"}, {tensor.Float64, "1e21", "1e+21"}, {tensor.Float64, "NaN", ""},
		{tensor.Float64, "-Inf", ""}, {tensor.Float64, "+inf", "+Inf"}, {tensor.Float64, "5e-324", ""}, {tensor.Float64, "1e-400", "0.0"},
		{tensor.Float32, "0.1", ""}, {tensor.Float32, "16777217", "1.6777216e+07"},
		{tensor.Float16, "0.1", ""}, {tensor.Float16, "65504", "6.55e+04"}, {tensor.Float16, "6e-08", ""}, {tensor.Float16, "-Inf", ""},
		{tensor.BFloat16, "0.1", ""}, {tensor.BFloat16, "NaN", ""}, {tensor.Float16, "3", "3.0"}, {tensor.BFloat16, "-2", "-2.0"}, {tensor.Float32, "5", "5.0"}, {tensor.BFloat16, "3.39e+38", ""},
		{tensor.Complex64, "(1.5-2i)", ""}, {tensor.Complex64, "1i", "(0+1i)"}, {tensor.Complex128, "(NaN+Infi)", ""}, {tensor.Complex128, "(-0-0i)", ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.dtype, " ", tt.text), func(t *testing.T) {
			_, c := column(t, tdict.Spec{DType: tt.dtype}, table.Options{})
			require.NoError(t, c.Append([]byte(tt.text)))
			if tt.want == "" {
				tt.want = tt.text
			}
			require.Equal(t, tt.want, string(c.Text(nil, 0)))
		})
	}
}

func visitsSchema() tdict.Schema {
	return tdict.Schema{
		{Key: "p/x", DType: tensor.Int16, Shape: shapeops.Shape{2}, Optional: true},
		{Key: "p/name", Kind: tdict.KindText},
		{Key: "sex", Kind: tdict.KindText, Optional: true},
		{Key: "codes", Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 2, Optional: true},
		{Key: "pairs", Kind: tdict.KindRagged, DType: tensor.Float32, Depth: 1, Shape: shapeops.Shape{2}},
		{Key: "none", Kind: tdict.KindDict},
	}
}

// fill appends two rows to a table of visits.
func fill(t testing.TB, x *table.Table) {
	add := func(key nestedkey.Key, texts ...string) {
		for _, text := range texts {
			require.NoError(t, x.Column(key).Append([]byte(text)))
		}
	}
	end := func(key nestedkey.Key, level int) { require.NoError(t, x.Column(key).EndList(level)) }
	add("p/x", "1")
	require.NoError(t, x.Column("p/x").AppendMissing())
	add("p/name", "Ada")
	add("sex", "f")
	add("codes", "1", "2")
	end("codes", 2)
	end("codes", 2)
	end("codes", 1)
	end("pairs", 1)
	add("p/x", "3", "4")
	add("p/name", "")
	require.NoError(t, x.Column("sex").AppendMissing())
	require.NoError(t, x.Column("codes").AppendMissing())
	add("pairs", "5", "6", "7", "8")
	end("pairs", 1)
}

func TestDict(t *testing.T) {
	var codes ragged.TextCodes
	x, err := table.New(visitsSchema(), table.Options{Categories: map[nestedkey.Key]*ragged.TextCodes{"sex": &codes}})
	require.NoError(t, err)
	for range 2 {
		fill(t, x)
		td, err := x.Dict(2)
		require.NoError(t, err)
		require.NoError(t, x.Schema().Check(td))
		require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "codes_mask")))
		require.Equal(t, []int16{1, 0, 3, 4}, tensor.Must(tdict.Slice[int16](td, "p/x")))
		require.Equal(t, []bool{true, false, true, true}, tensor.Must(tdict.Slice[bool](td, "p/x_mask")))
		require.Equal(t, []string{"Ada", ""}, tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](td, "p/name")))))
		require.Equal(t, []int32{0, 1}, tensor.Must(tdict.Slice[int32](td, "sex")))
		require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "sex_mask")))
		require.True(t, tensor.Must(ragged.From[int8]([][][]int8{{{1, 2}, {}}, {}})).Equal(tensor.Must(tdict.Get[*ragged.Tensor](td, "codes"))))
		pairs := tensor.Must(tdict.Get[*ragged.Tensor](td, "pairs"))
		require.Equal(t, "ragged float32 [2 * 2]", pairs.Text())

		y := tensor.Must(table.New(visitsSchema(), table.Options{Categories: map[nestedkey.Key]*ragged.TextCodes{"sex": &codes}}))
		require.NoError(t, y.Load(td))
		require.True(t, td.Equal(tensor.Must(y.Dict(2))))
		from, to := y.Column("codes").List(1, 0)
		require.Equal(t, []int{0, 2}, []int{from, to})
		require.Equal(t, "f", string(y.Column("sex").Text(nil, 0)))
		require.False(t, y.Column("sex").Present(1))
		x.Reset()
	}
	require.Equal(t, []string{"f", ""}, codes.Texts())
}

func TestTimes(t *testing.T) {
	tests := []struct {
		name, text string
		tm         table.Time
		want       int64
	}{
		{"days", "1970-01-03", table.Time{Layout: time.DateOnly, Unit: 24 * time.Hour}, 2},
		{"a day before 1970", "1969-12-30", table.Time{Layout: time.DateOnly, Unit: 24 * time.Hour}, -2},
		{"seconds in a zone", "1970-01-01 01:00:00", table.Time{Layout: time.DateTime, Zone: time.FixedZone("", 3600)}, 0},
		{"the least time in ns", "1677-09-21T00:12:43.145224192Z", table.Time{Layout: time.RFC3339Nano, Unit: 1}, math.MinInt64},
		{"the greatest", "2262-04-11T23:47:16.854775807Z", table.Time{Layout: time.RFC3339Nano, Unit: 1}, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, c := column(t, tdict.Spec{DType: tensor.Int64}, table.Options{Times: map[nestedkey.Key]table.Time{"k": tt.tm}})
			require.NoError(t, c.Append([]byte(tt.text)))
			td := tensor.Must(tensor.Must(x.Dict(1)).Clone())
			require.Equal(t, []int64{tt.want}, tensor.Must(tdict.Slice[int64](td, "k")))
			require.NoError(t, x.Load(td))
			require.Equal(t, tt.text, string(c.Text(nil, 0)))
		})
	}
}

func TestTimeRefusals(t *testing.T) {
	times := func(tm table.Time) table.Options { return table.Options{Times: map[nestedkey.Key]table.Time{"k": tm}} }
	for name, tt := range map[string]struct {
		text string
		tm   table.Time
	}{
		"no such time":         {"2020-02-30", table.Time{Layout: time.DateOnly}},
		"a rest":               {"2020-01-01 12:00:00", table.Time{Layout: time.DateTime, Unit: 24 * time.Hour}},
		"a time too late":      {"2262-04-11T23:47:16.854775808Z", table.Time{Layout: time.RFC3339Nano, Unit: 1}},
		"a time too early":     {"1677-09-21T00:12:43.145224191Z", table.Time{Layout: time.RFC3339Nano, Unit: 1}},
		"a time far too early": {"0001-01-01T00:00:00Z", table.Time{Layout: time.RFC3339Nano, Unit: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := column(t, tdict.Spec{DType: tensor.Int64}, times(tt.tm))
			testkit.Fails(t, table.ErrValue, c.Append([]byte(tt.text)))
		})
	}
	t.Run("written without the hour", func(t *testing.T) {
		x, _ := column(t, tdict.Spec{DType: tensor.Int64}, times(table.Time{Layout: time.DateOnly}))
		td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"k": tensor.Vector[int64](0, 1)}))
		testkit.Fails(t, table.ErrValue, x.Load(td))
	})
}

func TestRefusals(t *testing.T) {
	codes := map[nestedkey.Key]*ragged.TextCodes{"k": {}}
	day := map[nestedkey.Key]table.Time{"k": {Layout: time.DateOnly}}
	tests := []struct {
		name string
		spec tdict.Spec
		opt  table.Options
	}{
		{"Data", tdict.Spec{Kind: tdict.KindData}, table.Options{}},
		{"unbatched", tdict.Spec{Kind: tdict.KindUnbatched, DType: tensor.Int8}, table.Options{}},
		{"any dtype", tdict.Spec{}, table.Options{}},
		{"any size", tdict.Spec{DType: tensor.Int8, Shape: shapeops.Shape{tdict.Any}}, table.Options{}},
		{"too large a shape", tdict.Spec{DType: tensor.Int8, Shape: shapeops.Shape{1 << 62, 1 << 62}}, table.Options{}},
		{"no level", tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8}, table.Options{}},
		{"lists of nothing", tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Shape: shapeops.Shape{0}}, table.Options{}},
		{"categories of numbers", tdict.Spec{DType: tensor.Int8}, table.Options{Categories: codes}},
		{"categories without codes", tdict.Spec{Kind: tdict.KindText}, table.Options{Categories: map[nestedkey.Key]*ragged.TextCodes{"k": nil}}},
		{"times of int32", tdict.Spec{DType: tensor.Int32}, table.Options{Times: day}},
		{"times without a layout", tdict.Spec{DType: tensor.Int64}, table.Options{Times: map[nestedkey.Key]table.Time{"k": {}}}},
		{"a unit between seconds", tdict.Spec{DType: tensor.Int64}, table.Options{Times: map[nestedkey.Key]table.Time{"k": {Layout: "2006", Unit: 7 * time.Second / 2}}}},
		{"lists that are filled", tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1}, table.Options{Fill: map[nestedkey.Key]string{"k": "0"}}},
		{"filled with what does not fit", tdict.Spec{DType: tensor.Int8}, table.Options{Fill: map[nestedkey.Key]string{"k": "x"}}},
		{"options of no column", tdict.Spec{DType: tensor.Int8}, table.Options{Fill: map[nestedkey.Key]string{"z": "1"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Key = "k"
			testkit.Fails(t, tdict.ErrSchema, testkit.Err(table.New(tdict.Schema{tt.spec}, tt.opt)))
		})
	}
	for name, taken := range map[string]nestedkey.Key{"a mask whose key is taken": "k_mask", "a mask whose key is taken by a dictionary": "k_mask/a/b"} {
		t.Run(name, func(t *testing.T) {
			s := tdict.Schema{{Key: taken, DType: tensor.Bool}, {Key: "k", DType: tensor.Int8, Optional: true}}
			testkit.Fails(t, tdict.ErrSchema, testkit.Err(table.New(s, table.Options{})))
		})
	}
	t.Run("a value that may not be missing", func(t *testing.T) {
		_, c := column(t, tdict.Spec{DType: tensor.Int8}, table.Options{})
		testkit.Fails(t, table.ErrValue, c.AppendMissing())
	})
	t.Run("half a value in a list", func(t *testing.T) {
		_, c := column(t, tdict.Spec{Kind: tdict.KindRagged, DType: tensor.Int8, Depth: 1, Shape: shapeops.Shape{2}}, table.Options{})
		require.NoError(t, c.Append([]byte("1")))
		testkit.Fails(t, table.ErrValue, c.EndList(1))
	})
	t.Run("a column with fewer rows", func(t *testing.T) {
		x, _ := column(t, tdict.Spec{DType: tensor.Int8}, table.Options{})
		testkit.Fails(t, shapeops.ErrShape, testkit.Err(x.Dict(1)))
	})
}

// TestClonesOutliveReset: a clone of a ragged tensor shares its layout.
func TestClonesOutliveReset(t *testing.T) {
	x, c := column(t, tdict.Spec{Kind: tdict.KindText}, table.Options{})
	chunk := func(texts ...string) *tdict.TensorDict {
		x.Reset()
		for _, text := range texts {
			require.NoError(t, c.Append([]byte(text)))
		}
		return tensor.Must(tensor.Must(x.Dict(len(texts))).Clone())
	}
	first := chunk("a", "bcd")
	chunk("efgh", "i")
	v := tensor.Must(first.Get("k")).(*ragged.Tensor)
	require.Equal(t, []string{"a", "bcd"}, tensor.Must(ragged.Strings(v)))
}

// everyLine is a row.
type everyLine struct{}

func (everyLine) Ends([]byte, bool) bool { return true }
func (everyLine) Skips([]byte) bool      { return false }

// TestErrorsThatComeOnce: a reader need not return its error again.
func TestErrorsThatComeOnce(t *testing.T) {
	for _, text := range []string{"x", "\ufeff", "\ufeffx"} {
		parts := io.MultiReader(strings.NewReader(text), strings.NewReader("more\n"))
		_, n, err := table.NewSplitter(iotest.TimeoutReader(parts), everyLine{}, 100).Next(nil, 10)
		require.Zero(t, n)
		require.ErrorIs(t, err, iotest.ErrTimeout)
	}
}

// TestGrowIsBounded makes room for rows that may never come.
func TestGrowIsBounded(t *testing.T) {
	wide := tdict.Schema{{Key: "x", DType: tensor.Float64, Shape: shapeops.Shape{1 << 40}, Optional: true}, {Key: "y", DType: tensor.Int8}}
	many := tdict.Schema{}
	for i := range 5000 {
		many = append(many, tdict.Spec{Key: nestedkey.Of(fmt.Sprint(i)), DType: tensor.Int64})
	}
	for _, schema := range []tdict.Schema{wide, many} {
		x := tensor.Must(table.New(schema, table.Options{}))
		testkit.MaxBytes(t, 32<<20, func() { x.Grow(1 << 40) })
	}
}
