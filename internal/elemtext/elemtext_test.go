package elemtext

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/cast"
)

func TestTextsOfEachDType(t *testing.T) {
	tests := []struct {
		dtype   string
		size    int
		same    string // texts that are appended as they are parsed
		refused string
	}{
		{"bool", 1, "true false", "yes 2 1.0"},
		{"uint8", 1, "0 255", "-1 256 1.0 1e1 0x1"},
		{"uint16", 2, "0 65535", "-1 65536"},
		{"uint32", 4, "0 4294967295", "-1 4294967296"},
		{"uint64", 8, "0 18446744073709551615", "-1 18446744073709551616"},
		{"int8", 1, "-128 127", "-129 128 1_0"},
		{"int16", 2, "-32768 32767", "-32769 32768"},
		{"int32", 4, "-2147483648 2147483647", "-2147483649 2147483648"},
		{"int64", 8, "-9223372036854775808 9223372036854775807", "-9223372036854775809 9223372036854775808"},
		{"float16", 2, "0 -0 1.5 0.099975586 65504 NaN +Inf -Inf", "65520 -65520 1e999 x"},
		{"bfloat16", 2, "0 -0 1.5 0.100097656 NaN +Inf -Inf", "3.4e38 1e999 x"},
		{"float32", 4, "0 -0 0.1 1e-45 3.4028235e+38 NaN +Inf -Inf", "3.5e38 x"},
		{"float64", 8, "0 -0 0.1 5e-324 1.7976931348623157e+308 NaN +Inf -Inf", "1.8e308 x"},
		{"complex64", 8, "(1+2i) (-0-0.1i) (NaN+Infi) (1e+06-Infi)", "(1e39+0i) x"},
		{"complex128", 16, "(1+2i) (1e+39-0.1i)", "(1e309+0i) x"},
	}
	require.Len(t, tests, len(elems))
	for _, tt := range tests {
		t.Run(tt.dtype, func(t *testing.T) {
			e := Of(tt.dtype)
			require.Equal(t, tt.size, e.Size)
			for text := range strings.FieldsSeq(tt.same) {
				data, ok := e.Parse([]byte("before"), []byte(text))
				require.True(t, ok, text)
				require.Len(t, data, len("before")+tt.size)
				require.Equal(t, "before"+text, string(e.Append([]byte("before"), data[len("before"):])))
			}
			for text := range strings.FieldsSeq(tt.refused) {
				data, ok := e.Parse([]byte("before"), []byte(text))
				require.False(t, ok, text)
				require.Equal(t, "before", string(data))
			}
		})
	}
	require.Nil(t, Of("int128"))
}

// TestEachHalfReadsBack checks all 16-bit floats, with the fewest digits and without.
func TestEachHalfReadsBack(t *testing.T) {
	for _, dtype := range []string{"float16", "bfloat16"} {
		e := Of(dtype)
		for bits := range 1 << 16 {
			data := cast.Bytes([]uint16{uint16(bits)})
			long, fewest := e.Append(nil, data), e.AppendFewest(nil, data)
			for _, text := range [][]byte{long, fewest} {
				got, ok := e.Parse(nil, text)
				require.True(t, ok)
				if string(text) == "NaN" {
					require.Equal(t, "NaN", string(e.Append(nil, got)))
				} else {
					require.Equal(t, data, got, "%s %s", dtype, text)
				}
			}
		}
	}
	data, _ := Of("float16").Parse(nil, []byte("0.1"))
	require.Equal(t, "0.1", string(Of("float16").AppendFewest(nil, data)))
}

func TestComplexNumbersAreSpelledAsByFmtAndStrconv(t *testing.T) {
	parts := []float64{0, math.Copysign(0, -1), 1, -0.1, 1e6, 1e20, 1e21, 1e-5, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, re := range parts {
		for _, im := range parts {
			v := complex(re, im)
			text := string(Of("complex128").Append(nil, cast.Bytes([]complex128{v})))
			require.Equal(t, fmt.Sprint(v), text)
			require.Equal(t, strconv.FormatComplex(v, 'g', -1, 128), text)
			narrow := complex64(v)
			require.Equal(t, strconv.FormatComplex(complex128(narrow), 'g', -1, 64), string(Of("complex64").Append(nil, cast.Bytes([]complex64{narrow}))))
		}
	}
}
