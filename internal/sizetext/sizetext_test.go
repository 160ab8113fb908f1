package sizetext_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/sizetext"
)

func TestGrouped(t *testing.T) {
	for number, want := range map[string]string{
		"": "", "0": "0", "999": "999", "1945": "1,945", "1234567": "1,234,567", "-100": "-100", "-1000": "-1,000",
		"1234.5678": "1,234.5678", "1e+20": "1e+20", "1.2345e-10": "1.2345e-10", "-9223372036854775808": "-9,223,372,036,854,775,808",
	} {
		require.Equal(t, want, sizetext.Grouped(number), number)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.00 kB", 15560: "15.6 kB", 294_000: "294 kB", 999_499: "999 kB", 999_500: "1.00 MB", math.MaxInt64: "9.22 EB",
	} {
		require.Equal(t, want, sizetext.Bytes(n))
	}
}
