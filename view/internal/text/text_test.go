package text_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/text"
)

func TestSizes(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"a count of three digits has no comma", text.Count(999), "999"},
		{"a comma before three digits", text.Count(1945), "1,945"},
		{"a comma before each three digits", text.Count(1234567), "1,234,567"},
		{"a negative count", text.Count(-1000), "−1,000"},
		{"no comma after the minus", text.Count(-100), "−100"},
		{"the smallest count", text.Count(math.MinInt64), "−9,223,372,036,854,775,808"},
		{"bytes below a kB", text.Bytes(999), "999 B"},
		{"no bytes", text.Bytes(0), "0 B"},
		{"three digits with a point", text.Bytes(15560), "15.6 kB"},
		{"zeros are kept", text.Bytes(1000), "1.00 kB"},
		{"three digits without a point", text.Bytes(294000), "294 kB"},
		{"999,500 bytes round to a MB", text.Bytes(999_500), "1.00 MB"},
		{"the most bytes", text.Bytes(math.MaxInt64), "9.22 EB"},
		{"a share has one decimal", text.Percent(287, 1124), "25.5 %"},
		{"a share of 0", text.Percent(0, 0), "0 %"},
		{"no share", text.Percent(0, 7), "0.0 %"},
		{"all", text.Percent(7, 7), "100.0 %"},
		{"a share that is not 0", text.Percent(1, 1_000_000), "< 0.1 %"},
		{"a share that rounds to 0.1", text.Percent(6, 10_000), "0.1 %"},
		{"a share that is not all", text.Percent(999_999, 1_000_000), "> 99.9 %"},
		{"a share that rounds to 99.9", text.Percent(9994, 10_000), "99.9 %"},
		{"a share of counts beyond 2^53", text.Percent(math.MaxInt64-1, math.MaxInt64), "> 99.9 %"},
		{"a scalar", text.Shape(nil), "[]"},
		{"sizes", text.Shape(shapeops.Shape{1797, 8, 8}), "[1797 8 8]"},
		{"a size that differs", text.Shape(shapeops.Shape{312, tdict.Any}), "[312 *]"},
		{"no bytes in hex", text.Hex(nil, 0), "0 bytes"},
		{"one byte in hex", text.Hex([]byte{255}, 1), "1 byte: ff"},
		{"16 bytes in hex", text.Hex(make([]byte, 16), 16), "16 bytes: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00"},
		{"the first of more", text.Hex(make([]byte, 16), 17), "17 bytes: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 …"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, tt.got) })
	}
}

func TestNumber(t *testing.T) {
	tests := []struct {
		name   string
		v      any
		digits int
		want   string
		exact  string
	}{
		{"integers have all digits", int64(1234567), 4, "1,234,567", "1,234,567"},
		{"the smallest int64", int64(math.MinInt64), 4, "−9,223,372,036,854,775,808", "−9,223,372,036,854,775,808"},
		{"the largest uint64", uint64(math.MaxUint64), 4, "18,446,744,073,709,551,615", "18,446,744,073,709,551,615"},
		{"other integers", int8(-128), 1, "−128", "−128"},
		{"a float is rounded", 320.4719123, 6, "320.472", "320.4719123"},
		{"to the digits of a card", 26.2778, 4, "26.28", "26.2778"},
		{"zeros at the end are left out", 5.0000001, 6, "5", "5.0000001"},
		{"a rounding carries", 9.99996, 5, "10", "9.99996"},
		{"a whole float", 5.0, 6, "5", "5"},
		{"zero", 0.0, 6, "0", "0"},
		{"negative zero", math.Copysign(0, -1), 6, "−0", "−0"},
		{"a negative float", -12.345678, 4, "−12.35", "−12.345678"},
		{"digits before the point stay", 1234567.8, 4, "1,234,568", "1,234,567.8"},
		{"a time in seconds", 1700000123.25, 6, "1,700,000,123", "1,700,000,123.25"},
		{"15 digits before the point", 123456789012345.0, 6, "123,456,789,012,345", "123,456,789,012,345"},
		{"16 digits have an exponent", 1.2e15, 6, "1.2e+15", "1.2e+15"},
		{"rounded to 16 digits", 999999999999999.9, 6, "1e+15", "999,999,999,999,999.9"},
		{"digits of a number with an exponent", 1.23456789e20, 4, "1.235e+20", "1.23456789e+20"},
		{"zeros before an exponent are left out", 1.2000000001e20, 6, "1.2e+20", "1.2000000001e+20"},
		{"one digit before an exponent", 1.00000001e20, 6, "1e+20", "1.00000001e+20"},
		{"the largest float64 does not become infinite", math.MaxFloat64, 4, "1.798e+308", "1.7976931348623157e+308"},
		{"a small float", 0.00012345678, 4, "0.0001235", "0.00012345678"},
		{"the smallest without an exponent", 1e-6, 4, "0.000001", "0.000001"},
		{"a smaller one", -9.8765e-7, 4, "−9.876e−07", "−9.8765e−07"},
		{"subnormal", 5e-324, 4, "5e−324", "5e−324"},
		{"NaN", math.NaN(), 4, "NaN", "NaN"},
		{"infinite", math.Inf(1), 4, "+Inf", "+Inf"},
		{"negative infinite", math.Inf(-1), 4, "−Inf", "−Inf"},
		{"float32 has its own digits", float32(0.1), 12, "0.1", "0.1"},
		{"float32 is rounded", float32(5.265625), 4, "5.266", "5.265625"},
		{"float32 that is infinite", float32(math.Inf(-1)), 4, "−Inf", "−Inf"},
		{"float16 has its own digits", tensor.F16Of(0.1), 6, "0.1", "0.1"},
		{"the largest float16", tensor.F16Of(65504), 4, "65,504", "65,504"},
		{"whole float32 have all digits", float32(123456792), 4, "123,456,792", "123,456,792"},
		{"float32 with an exponent", float32(1.1e20), 6, "1.1e+20", "1.1e+20"},
		{"float16 that is NaN", tensor.F16Of(math.NaN()), 4, "NaN", "NaN"},
		{"bfloat16 has its own digits", tensor.BF16Of(3.14159), 6, "3.14", "3.14"},
		{"bfloat16 that is infinite", tensor.BF16Of(math.Inf(1)), 6, "+Inf", "+Inf"},
		{"complex", complex(3, 4), 6, "3+4i", "3+4i"},
		{"complex with a minus", complex64(complex(-1.5, -1234.5678)), 6, "−1.5−1,234.57i", "−1.5−1,234.5677i"},
		{"complex without a number", complex(math.NaN(), math.Inf(1)), 6, "NaN+Infi", "NaN+Infi"},
		{"complex NaN", complex(0, math.NaN()), 6, "0+NaNi", "0+NaNi"},
		{"bool", true, 6, "true", "true"},
		{"no digits count as one", 0.26, 0, "0.3", "0.26"},
		{"other values are shown as text", "a\nb", 6, `a\nb`, `a\nb`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, text.Number(tt.v, tt.digits))
			require.Equal(t, tt.exact, text.Exact(tt.v))
		})
	}
}

// TestExactReadsBack checks that texts of Exact are the numbers that they were made from.
func TestExactReadsBack(t *testing.T) {
	plain := strings.NewReplacer("−", "-", ",", "")
	check := func(v float64, bits int, shown string) {
		back, err := strconv.ParseFloat(plain.Replace(shown), bits)
		require.NoError(t, err)
		require.Equal(t, math.Float64bits(v), math.Float64bits(back), "%v of %d bits: %s", v, bits, shown)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		v, w := math.Float64frombits(random.Uint64()), math.Float32frombits(random.Uint32())
		if math.IsNaN(v) || math.IsNaN(float64(w)) {
			continue
		}
		check(v, 64, text.Exact(v))
		check(float64(w), 32, text.Exact(w))
		u := random.NormFloat64() * 1e9
		check(u, 64, text.Exact(u))
	}
	for i := range 1 << 16 {
		if h := tensor.F16(i); !math.IsNaN(h.Float64()) && i%7 == 0 {
			back, err := strconv.ParseFloat(plain.Replace(text.Exact(h)), 64)
			require.NoError(t, err)
			require.Equal(t, h, tensor.F16Of(back), text.Exact(h))
		}
	}
}

func TestAlign(t *testing.T) {
	tests := []struct {
		name        string
		cells, want []string
	}{
		{"no cells", nil, []string{}},
		{"whole numbers", []string{"1", "1,234", "−3"}, []string{"", "", ""}},
		{"points stand below each other", []string{"5.26562", "5.375", "5", "1,234.5"}, []string{"", "00", ".00000", "0000"}},
		{"words are at the right", []string{"0.5", "missing", "NaN", "+Inf", "−Inf", "", `""`}, []string{"", "", "", "", "", "", ""}},
		{"a number with an exponent", []string{"1.25", "1.2e+20"}, []string{"", ""}},
		{"complex", []string{"1.25", "3+4i"}, []string{"", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, text.Align(tt.cells)) })
	}
}

func TestElements(t *testing.T) {
	for _, dtype := range tensor.DTypes() {
		t.Run(dtype.String(), func(t *testing.T) {
			x := tensor.Must(tensor.Must(tensor.Vector[uint8](0, 1, 1, 0, 0, 1).Reshape(2, 3)).Cast(dtype))
			got, err := text.Elements(tensor.Must(x.Transpose(0, 1)))
			require.NoError(t, err)
			var digits []string
			for _, v := range got {
				switch {
				case dtype.IsInteger() && strings.HasPrefix(dtype.String(), "u"):
					require.IsType(t, uint64(0), v)
				case dtype.IsInteger():
					require.IsType(t, int64(0), v)
				}
				digits = append(digits, text.Exact(v))
			}
			want := map[tensor.DType][]string{
				tensor.Bool:       {"false", "false", "true", "false", "true", "true"},
				tensor.Complex64:  {"0+0i", "0+0i", "1+0i", "0+0i", "1+0i", "1+0i"},
				tensor.Complex128: {"0+0i", "0+0i", "1+0i", "0+0i", "1+0i", "1+0i"},
			}[dtype]
			if want == nil {
				want = []string{"0", "0", "1", "0", "1", "1"}
			}
			require.Equal(t, want, digits)
		})
	}
	types := []struct {
		name string
		x    *tensor.Tensor
		want []any
	}{
		{"a scalar has one", tensor.Scalar(int16(-3)), []any{int64(-3)}},
		{"integers without a sign", tensor.Vector[uint16](65535), []any{uint64(65535)}},
		{"float32 keeps its type", tensor.Vector[float32](0.1), []any{float32(0.1)}},
		{"float16 keeps its type", tensor.Vector(tensor.F16Of(0.1)), []any{tensor.F16Of(0.1)}},
		{"complex64 keeps its type", tensor.Vector(complex64(complex(1, 2))), []any{complex64(complex(1, 2))}},
		{"no elements", tensor.Must(tensor.Zeros[int64](0)), []any{}},
	}
	for _, tt := range types {
		t.Run(tt.name, func(t *testing.T) {
			got, err := text.Elements(tt.x)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	meta, err := tensor.NewMeta(tensor.Int8, 3)
	require.NoError(t, err)
	_, err = text.Elements(meta)
	require.ErrorIs(t, err, tensor.ErrMeta)
	_, err = text.Elements(new(tensor.Tensor))
	require.ErrorIs(t, err, tensor.ErrDType)
}
