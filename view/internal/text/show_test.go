package text_test

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/view/internal/text"
)

func TestShow(t *testing.T) {
	type runs = []text.Run
	tests := []struct {
		name string
		s    string
		most int
		runs runs
		left int
	}{
		{"plain text is one run", "alive", 200, runs{{"alive", false}}, 0},
		{"markup is not escaped here", "<b>&\"", 200, runs{{"<b>&\"", false}}, 0},
		{"the empty text", "", 200, runs{{`""`, true}}, 0},
		{"two quotes are not the empty text", `""`, 200, runs{{`""`, false}}, 0},
		{"control characters", "x\x00y\n", 200, runs{{"x", false}, {`\x00`, true}, {"y", false}, {`\n`, true}}, 0},
		{"neighbours are one run", "\x1b\x7f\u0085a", 200, runs{{`\x1b\x7f\u0085`, true}, {"a", false}}, 0},
		{"overrides of direction", "a\u202ab\u202ec\u2066d\u2069", 200, runs{{"a", false}, {`\u202a`, true}, {"b", false}, {`\u202e`, true}, {"c", false}, {`\u2066`, true}, {"d", false}, {`\u2069`, true}}, 0},
		{"marks of direction", "\u200e\u200f\u061cשלום", 200, runs{{`\u200e\u200f\u061c`, true}, {"שלום", false}}, 0},
		{"separators", "\u2028\u2029", 200, runs{{`\u2028\u2029`, true}}, 0},
		{"other characters without a shape", "\u00ad\ufeff\U000e0041", 200, runs{{`\u00ad\ufeff\U000e0041`, true}}, 0},
		{"joiners stay", "क\u200cष 👩\u200d💻", 200, runs{{"क\u200cष 👩\u200d💻", false}}, 0},
		{"bytes that are not UTF-8", "a\xff\xfeb", 200, runs{{"a", false}, {`\xff\xfe`, true}, {"b", false}}, 0},
		{"half of a surrogate pair", "\xed\xa0\x80", 200, runs{{`\xed\xa0\x80`, true}}, 0},
		{"a replacement character is text", "a\ufffd", 200, runs{{"a\ufffd", false}}, 0},
		{"a backslash is text", `\n`, 200, runs{{`\n`, false}}, 0},
		{"as long as the bound", "abc", 3, runs{{"abc", false}}, 0},
		{"longer", "abcd", 3, runs{{"abc", false}}, 1},
		{"cut before a character", "aaé", 3, runs{{"aa", false}}, 2},
		{"cut between escapes", "\n\n\n", 2, runs{{`\n\n`, true}}, 1},
		{"no bytes", "abc", 0, nil, 3},
		{"fewer than none", "abc", -1, nil, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := text.Show(tt.s, tt.most)
			require.Equal(t, text.Text{Runs: tt.runs, Left: tt.left}, got)
			require.Equal(t, tt.s == "", got.Empty())
		})
	}
}

func TestShowRunes(t *testing.T) {
	tests := []struct {
		name string
		s    string
		most int
		want string
	}{
		{"characters, not bytes", "ééé", 3, "ééé"},
		{"a cut has an ellipsis", "éééé", 3, "ééé…"},
		{"a byte that is not UTF-8 is one", "\xffab", 2, `\xffa…`},
		{"the empty text", "", 2, `""`},
		{"none", "a", 0, "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, text.ShowRunes(tt.s, tt.most).String()) })
	}
}

// TestShowReadsOnlyItsPart compares a text of 10 MB with the part of it that is shown.
func TestShowReadsOnlyItsPart(t *testing.T) {
	long := strings.Repeat("a\u202e", 10<<20/4)
	for name, show := range map[string]func(string, int) text.Text{"bytes": text.Show, "characters": text.ShowRunes} {
		t.Run(name, func(t *testing.T) {
			cost := func(s string) (bytes uint64, took time.Duration) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				start := time.Now()
				for range 10_000 {
					show(s, 100)
				}
				took = time.Since(start)
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc, took
			}
			bytes, took := cost(long[:200])
			longBytes, longTook := cost(long)
			require.LessOrEqual(t, longBytes, 2*bytes)
			require.Less(t, longTook, 10*took+10*time.Second) // reading all takes a minute
		})
	}
}

// FuzzShow checks that what is shown has no character that hides, is not longer than its bound, and
// says which bytes it stands for.
func FuzzShow(f *testing.F) {
	for _, s := range []string{"", "abc", "x\x00y\n", "\u202egnp.exe", "\xff\xed\xa0\x80", "é\u200d\u2028", `""`, `\n`} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, most int) {
		for name, got := range map[string]text.Text{"bytes": text.Show(s, most), "characters": text.ShowRunes(s, most)} {
			original := decoded(t, got)
			require.Equal(t, s, original+s[len(s)-got.Left:], name)
			require.True(t, got.Left == 0 || name == "bytes" || utf8.RuneCountInString(original) == max(0, most))
			require.True(t, got.Left == 0 || name == "characters" || len(original) <= max(0, most) && len(original) > most-utf8.UTFMax)
		}
	})
}

// decoded checks the runs of a text, and returns the text that they stand for.
func decoded(t *testing.T, shown text.Text) (original string) {
	if shown.Empty() {
		return ""
	}
	for i, run := range shown.Runs {
		require.NotEmpty(t, run.Text)
		require.True(t, i == 0 || run.Escaped != shown.Runs[i-1].Escaped, "runs that follow each other differ")
		require.True(t, utf8.ValidString(run.Text))
		for _, r := range run.Text {
			require.False(t, unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && r != '\u200c' && r != '\u200d', "%q", r)
		}
		if !run.Escaped {
			original += run.Text
			continue
		}
		plain, err := strconv.Unquote(`"` + run.Text + `"`)
		require.NoError(t, err)
		original += plain
	}
	return original
}
