package elemtext

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
)

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]Decimal{
		"0":                     {0, -1, false},
		"-0":                    {0, -1, true},
		"+12":                   {12, -1, false},
		"1.50":                  {150, 2, false},
		".5":                    {5, 1, false},
		"5.":                    {5, 0, false},
		"9999999999999999999":   {9999999999999999999, -1, false},
		"-0.999999999999999999": {999999999999999999, 18, true},
	} {
		got, ok := ParseDecimal([]byte(text))
		require.True(t, ok, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-", ".", "+.", "--1", "1.2.3", "1e5", "0x1", "1_0", " 1", "NaN", "12345678901234567890", "0.1234567890123456789"} {
		_, ok := ParseDecimal([]byte(text))
		require.False(t, ok, text)
	}
}

// agrees checks the numbers of a text that ParseDecimal takes with strconv.
func agrees(t testing.TB, text string) {
	d, ok := ParseDecimal([]byte(text))
	if !ok {
		return
	}
	want, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err, text)
	require.Equal(t, math.Float64bits(want), math.Float64bits(d.Float64()), text)
	if single, ok := d.Float32(); ok {
		want, err := strconv.ParseFloat(text, 32)
		require.NoError(t, err, text)
		require.Equal(t, math.Float32bits(float32(want)), math.Float32bits(single), text)
	}
}

// TestDecimalsAreRoundedLikeStrconv: random digits, numbers in the middle between two floats, and
// their neighbours.
func TestDecimalsAreRoundedLikeStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range longtests.Times(50_000, 5_000_000) {
		digits := []byte(strconv.FormatUint(r.Uint64()>>r.IntN(64), 10))
		if r.IntN(3) == 0 { // an integer between two floats of 24 or 53 bits
			width := []int{24, 53}[r.IntN(2)]
			half := uint64(1)<<width | r.Uint64N(1<<width)
			digits = []byte(strconv.FormatUint((half<<1|1)<<r.IntN(10)+r.Uint64N(3)-1, 10))
		}
		if at := r.IntN(len(digits) + 1); r.IntN(4) > 0 {
			digits = append(append(append([]byte(nil), digits[:at]...), '.'), digits[at:]...)
		}
		agrees(t, strings.Repeat("-", r.IntN(2))+strings.Repeat("0", r.IntN(3))+string(digits))
	}
}

func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "-.5", "9007199254740993", "1.00000005960464477539", "16777217"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { agrees(t, text) })
}
