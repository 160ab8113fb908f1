package where_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/where"
)

// table returns a dictionary with four rows.
func table(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(4)
	set := func(key nestedkey.Key, v tdict.Value) { require.NoError(t, td.Set(key, v)) }
	set("label", tensor.Vector[int64](3, -1, math.MaxInt64, math.MinInt64))
	set("u", tensor.Vector[uint64](0, 1<<63, math.MaxUint64, 7))
	set("small", tensor.Vector[int8](-128, 127, 0, 3))
	set("f32", tensor.Vector[float32](0.1, float32(math.Inf(1)), float32(math.NaN()), -2))
	set("f64", tensor.Vector(0.1, math.Inf(-1), math.NaN(), 0))
	set("f16", tensor.Vector(tensor.F16Of(0.1), tensor.F16Of(65504), tensor.F16Of(-3), tensor.F16Of(0)))
	set("age", tensor.Vector[int16](40, 41, 0, 50))
	set("age_mask", tensor.Vector(true, true, false, true))
	set("meta/ok", tensor.Vector(true, false, true, false))
	set("name", tensor.Must(ragged.FromStrings([]string{"ann", "Zoë", "", "ann\xff"})))
	set("wide", tensor.Must(tensor.Zeros[int32](4, 2)))
	set("one", tensor.Must(tensor.From([]uint8{1, 2, 3, 4}, 4, 1, 1)))
	set("z", tensor.Must(tensor.Zeros[complex64](4)))
	set("a b`c", tensor.Vector[int32](1, 2, 3, 4))
	set("in", tensor.Vector[int32](1, 2, 3, 4))
	return td
}

// masked says which leaves of table have masks.
var masked = tdict.Schema{{Key: "age", DType: tensor.Int16, Mask: "age_mask"}}

func mask(t testing.TB, td *tdict.TensorDict, text string) string {
	t.Helper()
	cond, err := where.Parse(text)
	require.NoError(t, err, text)
	filter, err := cond.BindSchema(td, masked)
	require.NoError(t, err, text)
	got, err := filter.Mask(td)
	require.NoError(t, err, text)
	return bits(t, got)
}

func bits(t testing.TB, mask *tensor.Tensor) (text string) {
	t.Helper()
	for bit := range tensor.Must(tensor.Elements[bool](mask)) {
		text += map[bool]string{true: "T", false: "-"}[bit]
	}
	return text
}

func TestMask(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"equal", "label == 3", "T---"},
		{"int64 to the last digit", "label == 9223372036854775807", "--T-"},
		{"a number beyond int64 equals nothing", "label == 9223372036854775808", "----"},
		{"and differs from all", "label != 9223372036854775808", "TTTT"},
		{"the least int64", "label > -9223372036854775808", "TTT-"},
		{"below all", "label > -9223372036854775809", "TTTT"},
		{"uint64 to the last digit", "u >= 18446744073709551615", "--T-"},
		{"uint64 in the middle", "u > 9223372036854775807", "-TT-"},
		{"unsigned and negative", "u > -1", "TTTT"},
		{"a fraction is between integers", "label < 3.5", "TT-T"},
		{"a fraction equals no integer", "label == 3.5", "----"},
		{"a fraction, greater or equal", "label >= 2.5", "T-T-"},
		{"a negative fraction", "label >= -1.5", "TTT-"},
		{"a number with an exponent is an integer", "label == 0.3e1", "T---"},
		{"zeros before a number mean nothing", "label == 003", "T---"},
		{"beyond a small dtype", "small < 1e300", "TTTT"},
		{"the greatest of a small dtype", "small <= 126.9", "T-TT"},
		{"a number is rounded to float32", "f32 == 0.1", "T---"},
		{"at the least number", "f32 >= 0.1 and f32 <= 0.1", "T---"},
		{"float32 0.1 is not greater than 0.1", "f32 > 0.1", "-T--"},
		{"float32 written out", "f32 == 0.100000001490116119384765625", "T---"},
		{"float64 is compared with the nearest", "f64 == 0.1", "T---"},
		{"NaN differs from numbers", "f32 != 0.2", "TTTT"},
		{"NaN is not less, and its negation holds", "not f64 < 9", "--T-"},
		{"infinity is beyond float32", "f32 >= 1e300", "-T--"},
		{"a number is rounded to float16", "f16 < 0.1", "--TT"},
		{"a number that rounds to 0 stays", "f16 > 1e-30 or f16 < -1e-30", "TTT-"},
		{"a number beyond float16 stays", "f16 <= 65520", "TTTT"},
		{"float16 has a greatest number", "f16 <= 65519", "TTTT"},
		{"nan", "nan(f32)", "--T-"},
		{"nan of integers", "nan(label)", "----"},
		{"a bare key", "meta/ok", "T-T-"},
		{"not", "not meta/ok", "-T-T"},
		{"bool with a literal", "meta/ok != true", "-T-T"},
		{"a missing value equals nothing", "age == 0", "----"},
		{"a missing value differs from nothing", "age != 40", "-T-T"},
		{"a negation leaves missing values out", "not age == 40", "-T-T"},
		{"unknown and false is false", "not (age > 40 and label < 0)", "T-T-"},
		{"unknown and true is unknown", "not (age > 40 and label > 9)", "TT-T"},
		{"unknown or true", "age > 0 or label > 9", "TTTT"},
		{"missing", "missing(age)", "--T-"},
		{"not missing", "not missing(age)", "TT-T"},
		{"nothing is missing without a mask", "missing(label)", "----"},
		{"text", "name == 'ann'", "T---"},
		{"text is ordered by bytes", `name > "ann"`, "---T"},
		{"upper case comes first", "name < 'a'", "-TT-"},
		{"bytes", `name == "ann\xff"`, "---T"},
		{"an escape of a rune", `name == "Zo\u00eb"`, "-T--"},
		{"in", "label in (3, 4, -1)", "TT--"},
		{"not in", "not age in (40, 41)", "---T"},
		{"text in", "name in ('', 'ann')", "T-T-"},
		{"dims of size one", "one > 2", "--TT"},
		{"a key in backquotes", "`a b``c` >= 3", "--TT"},
		{"a key that is a word", "`in` in (1)", "T---"},
		{"and binds more tightly than or", "label == 3 or age > 40 and meta/ok", "T---"},
		{"parentheses", "(label == 3 or age > 40) and not meta/ok", "-T-T"},
		{"without spaces", "label==3and(age<=40)", "T---"},
	}
	td := table(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, mask(t, td, tt.text)) })
	}
}

func TestString(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"parentheses that say nothing, and a bare key", "((a)) and (b == 1)", "a == true and b == 1"},
		{"parentheses that do", "(a<1 and b<1) and (c<1 or not (d<1 or e<1))", "(a < 1 and b < 1) and (c < 1 or not (d < 1 or e < 1))"},
		{"and within or", "(a<1 and b<1) or c<1", "a < 1 and b < 1 or c < 1"},
		{"numbers stay as they are written", "a<+3.50e1", "a < +3.50e1"},
		{"texts", `a in ('it''s', "\xff\n", '\n')`, `a == "it's" or a == "\xff\n" or a == "\\n"`},
		{"keys", "missing(`and`) or nan(`x```) or ``<0", "missing(`and`) or nan(`x```) or `` < 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cond, err := where.Parse(tt.text)
			require.NoError(t, err)
			require.Equal(t, tt.want, cond.String())
			again, err := where.Parse(tt.want)
			require.NoError(t, err)
			require.Equal(t, cond, again)
		})
	}
}

func TestKeys(t *testing.T) {
	cond := tensor.Must(where.Parse("age > 3 and (not meta/ok or missing(age)) and age_mask"))
	require.Equal(t, []nestedkey.Key{"age", "meta/ok", "age_mask"}, cond.Keys())
}

// A filter takes chunks of any number of rows, none too, and uses its memory again.
func TestChunks(t *testing.T) {
	td := table(t)
	filter := tensor.Must(tensor.Must(where.Parse("age >= 41 or name == 'ann'")).Bind(td))
	for _, rows := range [][2]int{{2, 4}, {0, 4}, {1, 1}, {0, 3}} {
		chunk := tensor.Must(td.Narrow(0, rows[0], rows[1]-rows[0]))
		require.Equal(t, "TT-T"[rows[0]:rows[1]], bits(t, tensor.Must(filter.Mask(chunk))))
	}
	big := tdict.New(1 << 20)
	require.NoError(t, big.Set("x", tensor.Must(tensor.Zeros[float32](1<<20))))
	filter = tensor.Must(tensor.Must(where.Parse("x > 3 or x in (1, 0)")).Bind(big))
	run := func() { tensor.Must(filter.Mask(big)) }
	run()
	require.Less(t, testing.AllocsPerRun(5, run), 250.)
	testkit.MaxBytes(t, 1<<18, run) // a mask is 1<<20
}

func TestAnotherDictionary(t *testing.T) {
	td := table(t)
	filter := tensor.Must(tensor.Must(where.Parse("label == 3 and name == ''")).Bind(td))
	tests := []struct {
		name string
		key  nestedkey.Key
		v    tdict.Value
		want error
	}{
		{"another dtype", "label", tensor.Vector[int32](1, 2, 3, 4), tensor.ErrDType},
		{"another shape", "label", tensor.Must(tensor.Zeros[int64](4, 2)), shapeops.ErrShape},
		{"another kind", "label", tensor.Must(ragged.FromStrings(make([]string, 4))), tdict.ErrKind},
		{"a tensor for text", "name", tensor.Vector[uint8](1, 2, 3, 4), tdict.ErrKind},
		{"deeper text", "name", tensor.Must(ragged.From[uint8]([][][]uint8{{{1}}, {}, {}, {}})), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			other := td.Copy()
			require.NoError(t, other.Set(tt.key, tt.v))
			_, err := filter.Mask(other)
			testkit.Fails(t, tt.want, err)
		})
	}
	t.Run("without the leaf", func(t *testing.T) {
		testkit.Fails(t, tdict.ErrMissing, testkit.Err(filter.Mask(tdict.New(4))))
	})
	t.Run("nil", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, testkit.Err(filter.Mask(nil))) })
}

func TestBindRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       error
	}{
		{"a text for integers", "label == '3'", tensor.ErrDType},
		{"a bool for integers", "small == true", tensor.ErrDType},
		{"a number for a bool", "meta/ok == 1", tensor.ErrDType},
		{"a number for text", "name in ('a', 3)", tensor.ErrDType},
		{"a bare key of numbers", "age", tensor.ErrDType},
		{"complex numbers", "z == 1", tensor.ErrDType},
		{"nan of a bool", "nan(meta/ok)", tensor.ErrDType},
		{"a bare key of text", "name and label == 3", tensor.ErrDType},
		{"a bare dictionary", "meta", tensor.ErrDType},
		{"a dictionary", "meta == 1", tensor.ErrDType},
		{"two columns", "label == 3 and wide == 1", shapeops.ErrShape},
		{"a key that is spelled alike", "labl == 3", tdict.ErrMissing},
		{"missing of no key", "missing(x)", tdict.ErrMissing},
	}
	td := table(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tensor.Must(where.Parse(tt.text)).Bind(td)
			testkit.Fails(t, tt.want, err)
			var keyed *tdict.KeyError
			require.ErrorAs(t, err, &keyed)
		})
	}
	cond := tensor.Must(where.Parse("a"))
	t.Run("nil", func(t *testing.T) { testkit.Fails(t, tdict.ErrKind, testkit.Err(cond.Bind(nil))) })
	t.Run("no rows", func(t *testing.T) { testkit.Fails(t, shapeops.ErrShape, testkit.Err(cond.Bind(tdict.New()))) })
}

// TestBindSchema: a schema alone says which leaves have masks.
func TestBindSchema(t *testing.T) {
	td := table(t)
	require.NoError(t, td.Set("small_mask", tensor.Vector(false, false, false, false)))
	require.NoError(t, td.Set("here", tensor.Must(tensor.From([]bool{true, false, true, true}, 4, 1, 1))))
	require.NoError(t, td.Set("lists", tensor.Must(ragged.From[int8]([][]int8{{1}, {}, {2, 3}, {}}))))
	for _, tt := range []struct {
		name, text string
		schema     tdict.Schema
		want       string
	}{
		{"a mask hides values", "age < 50", masked, "TT--"},
		{"a bool leaf of such a name is no mask", "age < 50", tdict.Schema{{Key: "age", Optional: true}}, "TTT-"},
		{"nothing is missing then", "missing(age) or missing(small)", tdict.Schema{{Key: "age"}}, "----"},
		{"a mask of any key", "small > 2", tdict.Schema{{Key: "small", Mask: "meta/ok"}}, "----"},
		{"what it hides is missing", "missing(small)", tdict.Schema{{Key: "small", Mask: "meta/ok"}}, "-T-T"},
		{"two leaves with one mask", "missing(small) or missing(u)", tdict.Schema{{Key: "small", Mask: "meta/ok"}, {Key: "u", Mask: "meta/ok"}}, "-T-T"},
		{"a mask that is not there hides nothing", "missing(small)", tdict.Schema{{Key: "small", Mask: "none"}}, "----"},
		{"dims of size one", "not one > 2", tdict.Schema{{Key: "one", Mask: "here"}}, "T---"},
		{"text", "name > ''", tdict.Schema{{Key: "name", Kind: tdict.KindText, Mask: "meta/ok"}}, "T---"},
		{"ragged rows", "missing(lists)", tdict.Schema{{Key: "lists", Kind: tdict.KindRagged, Mask: "meta/ok"}}, "-T-T"},
		{"a mask is a leaf like another", "age_mask and age < 50", masked, "TT--"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := tensor.Must(tensor.Must(where.Parse(tt.text)).BindSchema(td, tt.schema))
			require.Equal(t, tt.want, bits(t, tensor.Must(f.Mask(td))))
		})
	}
	require.NoError(t, td.Set("each", tensor.Must(ragged.From[bool]([][]bool{{true}, {}, {false, true}, {}}))))
	for _, tt := range []struct {
		name string
		mask nestedkey.Key
		of   nestedkey.Key
		want error
	}{
		{"a mask that holds no bools", "u", "age", tensor.ErrDType},
		{"a mask of another shape", "here", "age", shapeops.ErrShape},
		{"a mask that is text", "name", "age", tdict.ErrKind},
		{"a bool for each value", "each", "lists", tdict.ErrKind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cond := tensor.Must(where.Parse("label == 3 and missing(" + string(tt.of) + ")"))
			_, err := cond.BindSchema(td, tdict.Schema{{Key: tt.of, Kind: map[nestedkey.Key]tdict.Kind{"lists": tdict.KindRagged}[tt.of], Depth: map[nestedkey.Key]int{"lists": 1}[tt.of], Mask: tt.mask}})
			testkit.Fails(t, tt.want, err)
			var keyed *tdict.KeyError
			require.ErrorAs(t, err, &keyed)
			require.Equal(t, tt.mask, keyed.Key)
		})
	}
}

// TestMissingOfColumns: a row of several columns is missing if all of its elements are.
func TestMissingOfColumns(t *testing.T) {
	td := table(t)
	require.NoError(t, td.Set("there", tensor.Must(tensor.From([]bool{true, true, false, true, false, false, true, false}, 4, 2))))
	for text, want := range map[string]string{
		"missing(wide)":                       "--T-",
		"not missing(wide)":                   "TT-T",
		"missing(wide) or small == 3":         "--TT",
		"not (missing(wide) or small == 127)": "T--T",
	} {
		f := tensor.Must(tensor.Must(where.Parse(text)).BindSchema(td, tdict.Schema{{Key: "wide", Mask: "there"}}))
		require.Equal(t, want, bits(t, tensor.Must(f.Mask(td))), text)
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, text string }{
		{"nothing", ""},
		{"no literal", "a =="},
		{"one equals sign", "a = 3"},
		{"a literal on the left of a literal", "3 < 4 < a"},
		{"a literal on the left", "3 < a"},
		{"a text without quotes", "a == ann"},
		{"null", "a is null"},
		{"a word for no value", "a == missing"},
		{"a word for NaN", "a == nan"},
		{"and of SQL", "a AND b"},
		{"or of C", "a || b"},
		{"not of C", "!a"},
		{"not of SQL", "NOT a"},
		{"a literal of the other language", "a == None"},
		{"a word for a key", "and == 3"},
		{"two comparisons", "1 < a < 3"},
		{"an order of bools", "a < true"},
		{"a number that runs on", "a == 3abc"},
		{"a number beyond float64", "a == 1e400"},
		{"an open parenthesis", "(a == 3"},
		{"a parenthesis too many", "a == 3)"},
		{"an open text", "a == 'x"},
		{"an escape that does not exist", `a == "x\q"`},
		{"the escape of the other quote", `a == "x\'"`},
		{"an open key", "`a == 3"},
		{"a key that is ill-formed", "`a~` == 3"},
		{"an empty list", "a in ()"},
		{"an open list", "a in (1, 2"},
		{"missing without a key", "missing()"},
		{"bytes that are not UTF-8", "a == '\xff'"},
		{"a sign of another language", "a && b"},
		{"too deep", strings.Repeat("(", 101) + "a" + strings.Repeat(")", 101)},
		{"negations too deep", strings.Repeat("not ", 1000) + "a"},
		{"too long", strings.Repeat("a", 1<<17)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.Fails(t, where.ErrSyntax, testkit.Err(where.Parse(tt.text)))
		})
	}
	_, err := where.Parse(strings.Repeat("(", 99) + "a" + strings.Repeat(")", 99))
	require.NoError(t, err)
}

// TestMeaning: categories and times compare as the schema says, also between two units and beyond
// int64, and with missing values.
func TestMeaning(t *testing.T) {
	td := tensor.Must(tdict.FromMap(shapeops.Shape{4}, tdict.Entries{
		"sex": tensor.Vector[int32](0, 1, 0, 7), "day": tensor.Vector[int64](-1, 0, 1, 18262), "ms": tensor.Vector[int64](-1, 0, 1, 1500),
		"there": tensor.Vector(true, true, false, true),
	}))
	schema := tdict.Schema{
		{Key: "sex", DType: tensor.Int32, Categories: []string{"f", "m"}, Mask: "there"}, {Key: "there", DType: tensor.Bool},
		{Key: "day", DType: tensor.Int64, Unit: "d", Time: "02.01.2006"},
		{Key: "ms", DType: tensor.Int64, Unit: "ms", Time: "2006-01-02T15:04:05.000"},
	}
	for condition, want := range map[string][]bool{
		`sex == "f"`:                               {true, false, false, false},
		`sex != "f"`:                               {false, true, false, true},
		`sex == "nobody"`:                          {false, false, false, false},
		`sex != "nobody"`:                          {true, true, false, true},
		`sex in ("f", "m")`:                        {true, true, false, false},
		`sex == 7`:                                 {false, false, false, true},
		`day == "02.01.1970"`:                      {false, false, true, false},
		`day >= "1970-01-01"`:                      {false, true, true, true},
		`day > "1970-01-01 12:00"`:                 {false, false, true, true},
		`day == "1970-01-01 12:00"`:                {false, false, false, false},
		`day < "1969-12-31 12:00"`:                 {true, false, false, false},
		`day < "9999-12-31"`:                       {true, true, true, true},
		`day >= "2020-01-01T00:00:00Z"`:            {false, false, false, true},
		`ms == "1970-01-01T00:00:01.500"`:          {false, false, false, true},
		`ms > "1970-01-01T00:00:00.0004"`:          {false, false, true, true},
		`ms < "9999-12-31" and ms >= "0001-01-01"`: {true, true, true, true},
	} {
		c, err := where.Parse(condition)
		require.NoError(t, err, condition)
		f, err := c.BindSchema(td, schema)
		require.NoError(t, err, condition)
		mask, err := f.Mask(td)
		require.NoError(t, err, condition)
		require.NoError(t, tensor.Read(mask, func(got []bool) { require.Equal(t, want, got, condition) }))
	}
	for _, condition := range []string{`sex < "m"`, `day == "yesterday"`, `there == "f"`} {
		t.Run(condition, func(t *testing.T) {
			testkit.Fails(t, tensor.ErrDType, testkit.Err(tensor.Must(where.Parse(condition)).BindSchema(td, schema)))
		})
	}
}
