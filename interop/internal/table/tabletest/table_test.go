package tabletest_test

import (
	"fmt"
	"io"
	"math"
	"math/big"
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
		{"a text among many numbers", "1 2 3 4 5 6 7 n/a 8 9", `1 of 10 values are not numbers, first "n/a" in line 8`},
		{"a text among fewer", "1 2 n/a", `1 of 3 values are not numbers, first "n/a" in line 3`},
		{"as many texts as numbers", "1 n/a", ""},
		{"a date among numbers", "1 2 2026-11-29", `1 of 3 values are not numbers, first "2026-11-29" in line 3`},
		{"dates", "2026-11-29 0000-02-29 9999-12-31", "time 2006-01-02 dates from 0000-02-29 to 9999-12-31"},
		{"times to the minute", "2026-11-29T00:00 2026-11-29T23:59", "time 2006-01-02T15:04 times from 2026-11-29T00:00 to 2026-11-29T23:59"},
		{"times to the second", "2026-11-29T00:00:59", "time 2006-01-02T15:04:05 times from 2026-11-29T00:00:59 to 2026-11-29T00:00:59"},
		{"times in UTC", "2026-11-29T00:00:59Z", "time 2006-01-02T15:04:05Z times from 2026-11-29T00:00:59Z to 2026-11-29T00:00:59Z"},
		{"times with a fraction", "2026-11-29T00:00:59.100 2026-11-29T00:00:59.999", "time 2006-01-02T15:04:05.000 times from 2026-11-29T00:00:59.100 to 2026-11-29T00:00:59.999"},
		{"nine digits", "2262-04-11T23:47:15.854775807Z", "time 2006-01-02T15:04:05.000000000Z times from 2262-04-11T23:47:15.854775807Z to 2262-04-11T23:47:15.854775807Z"},
		{"nine digits too late for ns", "2262-04-11T23:47:17.854775807Z", ""},
		{"ten digits", "2026-11-29T00:00:59.1234567890", ""},
		{"two layouts", "2026-11-29 2026-11-29 2026-11-29T00:00", `1 of 3 values are not dates as 2006-01-02, first "2026-11-29T00:00" in line 3`},
		{"the layout of most", "x 2026-11-29 2026-11-29T00:00 2026-11-28T00:00 2026-11-27T00:00", `2 of 5 values are not dates as 2006-01-02T15:04, first "x" in line 1`},
		{"fractions without zeros at their ends", "2026-11-29T00:00:59.15 2026-11-29T00:00:59 2026-11-29T00:00:58.2", "time 2006-01-02T15:04:05.99 times from 2026-11-29T00:00:58.2 to 2026-11-29T00:00:59.15"},
		{"and with Z", "2026-11-29T00:00:50Z 2026-11-29T00:00:59.123456Z", "time 2006-01-02T15:04:05.999999Z times from 2026-11-29T00:00:50Z to 2026-11-29T00:00:59.123456Z"},
		{"fractions of two lengths, one ends in 0", "2026-11-29T00:00:59.1 2026-11-29T00:00:59.2 2026-11-29T00:00:59.50", `1 of 3 values are not dates as 2006-01-02T15:04:05.0, first "2026-11-29T00:00:59.50" in line 3`},
		{"and with Z", "2026-11-29T00:00:59.1Z 2026-11-29T00:00:59.2Z 2026-11-29T00:00:59.50Z", `1 of 3 values are not dates as 2006-01-02T15:04:05.0Z, first "2026-11-29T00:00:59.50Z" in line 3`},
		{"fractions beside minutes", "2026-11-29T00:00 2026-11-29T00:01 2026-11-29T00:00:59.5", `1 of 3 values are not dates as 2006-01-02T15:04, first "2026-11-29T00:00:59.5" in line 3`},
		{"fractions with and without Z", "2026-11-29T00:00:01 2026-11-29T00:00:02 2026-11-29T00:00:59.5Z", `1 of 3 values are not dates as 2006-01-02T15:04:05, first "2026-11-29T00:00:59.5Z" in line 3`},
		{"fractions beside a number", "2026-11-29T00:00:01 2026-11-29T00:00:02.5 7", `1 of 3 values are not dates as 2006-01-02T15:04:05.9, first "7" in line 3`},
		{"nine digits beside a time too late for ns", "2262-04-11T23:47:15.854775807 2262-04-11T23:47:17 2262-04-11T23:47:17", `1 of 3 values are not dates as 2006-01-02T15:04:05, first "2262-04-11T23:47:15.854775807" in line 1`},
		{"nine digits too late for ns beside fewer", "2024-01-01T00:00:01 9999-01-01T00:00:02.5 9999-01-01T00:00:03.123456789", `1 of 3 values are not dates as 2006-01-02T15:04:05.9, first "9999-01-01T00:00:03.123456789" in line 3`},
		{"as many dates of each layout", "2026-11-29 2026-11-29T00:00 2026-11-29T00:00:59", `2 of 3 values are not dates as 2006-01-02T15:04, first "2026-11-29" in line 1`},
		{"a tie of layouts and as many texts", "2026-11-29 2026-11-29T00:00 x y", ""},
		{"a day that does not exist", "2026-02-28 2026-02-27 2026-02-30", `1 of 3 values are not dates as 2006-01-02, first "2026-02-30" in line 3`},
		{"24:00", "2026-02-28T24:00 2026-02-28T23:00 2026-02-28T23:01", `1 of 3 values are not dates as 2006-01-02T15:04, first "2026-02-28T24:00" in line 1`},
		{"year 10000", "9999-12-31 9999-12-30 10000-01-01", `1 of 3 values are not dates as 2006-01-02, first "10000-01-01" in line 3`},
		{"a number among dates", "2026-11-29 20261130 2026-12-01", `1 of 3 values are not dates as 2006-01-02, first "20261130" in line 2`},
		{"zones", "2026-11-29T12:00+02:00 2026-11-29T12:00:00-0330 2026-11-29T12:00:00.5+02", `3 of 3 values have a zone, first 2026-11-29T12:00+02:00 in line 1, and would be written back in UTC`},
		{"0x10", "0x10 007", "a number would lose the spelling of 0x10 in line 1"},
		{"an underscore", "1_000", "a number would lose the spelling of 1_000 in line 1"},
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
				case text[0] == '0' && len(text) > 1 && text[1] != '.' || !c.Number([]byte(text), i+1):
					c.Text([]byte(text), i+1)
				}
				if i == 0 {
					first, c = c, table.Counts{}
				}
			}
			c.Merge(&first)
			d, what := c.DType()
			if layout, dates := c.Time(); layout != "" {
				what = "time " + layout + " " + dates
			} else if d == 0 {
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
		{Key: "sex", DType: tensor.Int8, Categories: []string{"m", "f"}, Optional: true},
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
	end := func(key nestedkey.Key, level, n int) { x.Column(key).Levels[level-1].End(n) }
	add("p/x", "1")
	require.NoError(t, x.Column("p/x").AppendMissing())
	add("p/name", "Ada")
	add("sex", "f")
	add("codes", "1", "2")
	end("codes", 2, 2)
	end("codes", 2, 0)
	end("codes", 1, 2)
	x.Column("codes").Mask(0).Add(true)
	end("pairs", 1, 0)
	add("p/x", "3", "4")
	add("p/name", "")
	require.NoError(t, x.Column("sex").AppendMissing())
	require.NoError(t, x.Column("codes").AppendMissing())
	add("pairs", "5", "6", "7", "8")
	end("pairs", 1, 2)
}

func TestDict(t *testing.T) {
	x := tensor.Must(table.New(visitsSchema(), table.Options{}))
	for range 2 {
		fill(t, x)
		td, err := x.Dict(2)
		require.NoError(t, err)
		require.NoError(t, x.Schema().Check(td))
		require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "codes_mask")))
		require.Equal(t, []int16{1, 0, 3, 4}, tensor.Must(tdict.Slice[int16](td, "p/x")))
		require.Equal(t, []bool{true, false, true, true}, tensor.Must(tdict.Slice[bool](td, "p/x_mask")))
		require.Equal(t, []string{"Ada", ""}, tensor.Must(ragged.Strings(tensor.Must(tdict.Get[*ragged.Tensor](td, "p/name")))))
		require.Equal(t, []int8{1, 0}, tensor.Must(tdict.Slice[int8](td, "sex")))
		require.Equal(t, []bool{true, false}, tensor.Must(tdict.Slice[bool](td, "sex_mask")))
		require.True(t, tensor.Must(ragged.From[int8]([][][]int8{{{1, 2}, {}}, {}})).Equal(tensor.Must(tdict.Get[*ragged.Tensor](td, "codes"))))
		pairs := tensor.Must(tdict.Get[*ragged.Tensor](td, "pairs"))
		require.Equal(t, "ragged float32 [2 * 2]", pairs.Text())

		y := tensor.Must(table.New(visitsSchema(), table.Options{}))
		require.NoError(t, y.Load(td))
		require.True(t, td.Equal(tensor.Must(y.Dict(2))))
		from, to := y.Column("codes").Levels[0].List(0)
		require.Equal(t, []int{0, 2}, []int{from, to})
		require.Equal(t, "f", string(y.Column("sex").Text(nil, 0)))
		require.False(t, y.Column("sex").Present(1))
		x.Reset()
	}
}

// timed is the spec of a column of times.
func timed(layout, unit string) tdict.Spec {
	return tdict.Spec{DType: tensor.Int64, Time: layout, Unit: unit}
}

func TestTimes(t *testing.T) {
	const micros = "2006-01-02T15:04:05.000000Z"
	tests := []struct {
		name, text   string
		layout, unit string
		want         int64
	}{
		{"days", "1970-01-03", time.DateOnly, "d", 2},
		{"a day before 1970", "1969-12-30", time.DateOnly, "d", -2},
		{"a leap day", "2000-02-29", time.DateOnly, "d", 11016},
		{"the first day of year 0", "0000-01-01", time.DateOnly, "d", -719528},
		{"the last day with four digits", "9999-12-31", time.DateOnly, "d", 2932896},
		{"minutes", "1970-01-01 01:02", "2006-01-02 15:04", "min", 62},
		{"hours", "1970-01-02T01:00", "2006-01-02T15:04", "h", 25},
		{"the last second", "9999-12-31 23:59:59", time.DateTime, "s", 253402300799},
		{"the first microsecond", "0000-01-01T00:00:00.000000Z", micros, "us", -62167219200000000},
		{"a microsecond before 1970", "1969-12-31T23:59:59.999999Z", micros, "us", -1},
		{"digits that count tens of milliseconds", "1970-01-01T00:00:01.25", "2006-01-02T15:04:05.00", "ms", 1250},
		{"a fraction without its zeros", "1969-12-31 23:59:59.05", "2006-01-02 15:04:05.999", "ms", -950},
		{"no fraction", "1970-01-01T00:00:01Z", "2006-01-02T15:04:05.999999Z", "us", 1_000_000},
		{"a layout of words", "2 Jan 1970, 3:04PM", "2 Jan 2006, 3:04PM", "s", 140640},
		{"the least time in ns", "1677-09-21T00:12:43.145224192Z", "2006-01-02T15:04:05.000000000Z", "ns", math.MinInt64},
		{"the greatest", "2262-04-11T23:47:16.854775807Z", "2006-01-02T15:04:05.000000000Z", "ns", math.MaxInt64},
		{"the least time, by package time", "1677-09-21T00:12:43.145224192Z", time.RFC3339Nano, "ns", math.MinInt64},
		{"the greatest, by package time", "2262-04-11T23:47:16.854775807Z", time.RFC3339Nano, "ns", math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, c := column(t, timed(tt.layout, tt.unit), table.Options{})
			require.NoError(t, c.Append([]byte(tt.text)))
			td := tensor.Must(tensor.Must(x.Dict(1)).Clone())
			require.Equal(t, []int64{tt.want}, tensor.Must(tdict.Slice[int64](td, "k")))
			require.NoError(t, x.Load(td))
			require.Equal(t, tt.text, string(c.Text(nil, 0)))
		})
	}
}

func TestTimeRefusals(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		spec tdict.Spec
	}{
		"no such time":         {"2020-02-30", timed(time.DateOnly, "s")},
		"no leap year":         {"1900-02-29", timed(time.DateOnly, "d")},
		"year 10000":           {"10000-01-01", timed(time.DateOnly, "d")},
		"24:00":                {"2020-01-01 24:00:00", timed(time.DateTime, "s")},
		"a leap second":        {"2016-12-31 23:59:60", timed(time.DateTime, "s")},
		"a rest":               {"2020-01-01 12:00:00", timed(time.DateTime, "d")},
		"a zone":               {"2020-01-01T12:00:00+02:00", timed("2006-01-02T15:04:05Z", "s")},
		"a time too late":      {"2262-04-11T23:47:16.854775808Z", timed(time.RFC3339Nano, "ns")},
		"a time too early":     {"1677-09-21T00:12:43.145224191Z", timed(time.RFC3339Nano, "ns")},
		"a time far too early": {"0001-01-01T00:00:00Z", timed(time.RFC3339Nano, "ns")},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := column(t, tt.spec, table.Options{})
			testkit.Fails(t, table.ErrValue, c.Append([]byte(tt.text)))
		})
	}
	for name, tt := range map[string]struct {
		n    int64
		spec tdict.Spec
	}{
		"written without the hour":            {1, timed(time.DateOnly, "s")},
		"written without the millisecond":     {1, timed(time.DateTime, "ms")},
		"written with five digits of a year":  {2932897, timed(time.DateOnly, "d")},
		"written with a sign before the year": {-719529, timed(time.DateOnly, "d")},
		"days beyond int64 seconds":           {math.MaxInt64, timed(time.DateOnly, "d")},
		"days that wrap around":               {math.MinInt64, timed("Jan 2006", "d")},
	} {
		t.Run(name, func(t *testing.T) {
			x, _ := column(t, tt.spec, table.Options{})
			td := tensor.Must(tdict.FromMap(shapeops.Shape{2}, tdict.Entries{"k": tensor.Vector[int64](0, tt.n)}))
			testkit.Fails(t, table.ErrValue, x.Load(td))
		})
	}
}

// TestUnits: the unit of a layout is the coarsest that holds each of its times.
func TestUnits(t *testing.T) {
	for layout, want := range map[string]string{
		time.DateOnly: "d", "Jan 2006": "d", "02.01.2006": "d", time.DateTime: "s", "2006-01-02 15:04": "s", "2006-01-02 3PM": "s", "2006-01-02 PM": "s",
		"2006-01-02Z07:00": "s", time.RFC1123: "s", "15:04:05.0": "ms", time.StampMilli: "ms", time.StampMicro: "us", "05.0000": "us", time.RFC3339Nano: "ns", "": "d",
	} {
		require.Equal(t, want, table.Unit(layout), layout)
	}
}

// FuzzTimes compares layouts of ISO 8601, which are read and written by hand, with package time.
func FuzzTimes(f *testing.F) {
	for _, text := range []string{
		"0000-01-01", "9999-12-31", "10000-01-01", "2000-02-29", "1900-02-29", "2026-11-29T24:00", "2026-11-29 23:59:59.5", "2026-11-29T23:59:60Z",
		"2026-11-29T23:59:59.123456789Z", "2026-11-29T23:59:59+02:00", "2026-1-2", "2026-11-29T3:04", "2026-13-01", "2026-00-10", "2026-10-00", "2026-11-29 12:00:00.Z",
		"2026-11-29T12:00:00.", "2026-11-29T12:00:00.25", "2026-11-29T12:00:00.120", "2026-11-29T12:00:00.1234", "2026-11-29 12:00:00Z", "2026-11-29 12:00:00.5Z", "2026-11-29 12:00:00.123456789",
	} {
		f.Add(text, int64(-719529))
		f.Add(text, int64(1795996800123456789))
	}
	layouts := []string{time.DateOnly, "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.000", "2006-01-02 15:04:05.000000Z", "2006-01-02T15:04:05.000000000Z", "2006-01-02T15:04:05.999", "2006-01-02 15:04:05.9Z", "2006-01-02 15:04:05.999999999", time.RFC3339Nano, "02.01.2006 15:04"}
	f.Fuzz(func(t *testing.T, text string, n int64) {
		for _, layout := range layouts {
			spec := timed(layout, table.Unit(layout))
			length, _ := spec.TimeUnit()
			x, c := column(t, spec, table.Options{})
			at, failed := time.ParseInLocation(layout, text, time.UTC)
			err := c.Append([]byte(text))
			nanos := new(big.Int).Add(new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond())))
			want, rest := new(big.Int).QuoRem(nanos, big.NewInt(int64(length)), new(big.Int))
			if failed != nil || rest.Sign() != 0 || !want.IsInt64() {
				require.ErrorIs(t, err, table.ErrValue, text)
			} else {
				require.NoError(t, err, text)
				require.Equal(t, want.Int64(), tensor.Must(tdict.Slice[int64](tensor.Must(x.Dict(1)), "k"))[0], text)
			}
			checkWritten(t, spec, length, n)
		}
	})
}

// checkWritten checks the text of n with package time.
func checkWritten(t *testing.T, spec tdict.Spec, length time.Duration, n int64) {
	x, c := column(t, spec, table.Options{})
	var at time.Time
	if per := int64(length / time.Second); per > 0 {
		n = min(max(n, -1e13), 1e13)
		at = time.Unix(n*per, 0).UTC()
	} else {
		per := int64(time.Second / length)
		at = time.Unix(n/per, n%per*int64(length)).UTC()
	}
	want := at.Format(spec.Time)
	back, err := time.ParseInLocation(spec.Time, want, time.UTC)
	td := tensor.Must(tdict.FromMap(shapeops.Shape{1}, tdict.Entries{"k": tensor.Vector(n)}))
	if failed := x.Load(td); err != nil || !back.Equal(at) {
		require.ErrorIs(t, failed, table.ErrValue, want)
	} else {
		require.NoError(t, failed, want)
		require.Equal(t, want, string(c.Text(nil, 0)))
	}
}

func TestRefusals(t *testing.T) {
	var many []string
	for i := range 129 {
		many = append(many, fmt.Sprint(i))
	}
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
		{"more categories than int8 holds", tdict.Spec{DType: tensor.Int8, Categories: many}, table.Options{}},
		{"categories of text", tdict.Spec{Kind: tdict.KindText, Categories: many}, table.Options{}},
		{"times of int32", tdict.Spec{DType: tensor.Int32, Time: time.DateOnly, Unit: "d"}, table.Options{}},
		{"times without a unit", tdict.Spec{DType: tensor.Int64, Time: time.DateOnly}, table.Options{}},
		{"filled with no category", tdict.Spec{DType: tensor.Int16, Categories: many}, table.Options{Fill: map[nestedkey.Key]string{"k": "x"}}},
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
			made := tensor.Must(table.New(s, table.Options{})).Schema()
			spec, _ := made.Find("k")
			require.Equal(t, nestedkey.Key("k_mask2"), spec.Mask)
			require.NoError(t, testkit.Err(table.New(made, table.Options{})), "the schema of a table makes the same table")
		})
	}
	t.Run("a value that may not be missing", func(t *testing.T) {
		_, c := column(t, tdict.Spec{DType: tensor.Int8}, table.Options{})
		testkit.Fails(t, table.ErrValue, c.AppendMissing())
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
