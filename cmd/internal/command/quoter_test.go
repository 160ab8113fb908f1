package command

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestQuoter(t *testing.T) {
	for _, tt := range []struct{ rule, text, want string }{
		{"letters, lines and tabs stay", "Émilie\t1\n", "Émilie\t1\n"},
		{"escape sequences do not reach the terminal", "\x1b[31mred\a", `\x1b[31mred\a`},
		{"nor those of one byte", "a\u009bb", `a\u009bb`},
		{"nor carriage returns", "a\rb", `a\rb`},
		{"nor what turns the direction of text", "a\u202eb", `a\u202eb`},
		{"bytes that are not UTF-8", "a\xffb\xc3\n", `a\xffb\xc3` + "\n"},
		{"a replacement character that is in the text", "\ufffd", "\ufffd"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var all, parts bytes.Buffer
			_, err := (&quoter{to: &all}).Write([]byte(tt.text))
			require.NoError(t, err)
			require.Equal(t, tt.want, all.String())

			q := &quoter{to: &parts}
			for i := range len(tt.text) {
				n, err := q.Write([]byte(tt.text[i : i+1]))
				require.NoError(t, err)
				require.Equal(t, 1, n)
			}
			require.Equal(t, tt.want, parts.String(), "byte by byte")
		})
	}
}

func FuzzQuoter(f *testing.F) {
	f.Add("a\x1b\xe2\x80", 1)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		cut = min(max(cut, 0), len(text))
		var out bytes.Buffer
		q := &quoter{to: &out}
		for _, part := range []string{text[:cut], text[cut:], "\n"} {
			_, err := q.Write([]byte(part))
			require.NoError(t, err)
		}
		require.True(t, utf8.Valid(out.Bytes()))
		require.False(t, strings.ContainsFunc(out.String(), func(r rune) bool {
			return r != '\n' && r != '\t' && !unicode.IsPrint(r)
		}))
	})
}
