package programs

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestListen(t *testing.T) {
	long := strings.Repeat("é", 1500)
	for _, tt := range []struct {
		name, text string
		told, last []string
	}{
		{"nothing", "", nil, nil},
		{"lines", "a\nb b\n", []string{"a", "b b"}, []string{"a", "b b"}},
		{"the last line has no end", "a\nb", []string{"a", "b"}, []string{"a", "b"}},
		{"empty lines are left out", "\n\na\r\n\n", []string{"a"}, []string{"a"}},
		{"progress bars", "10 %\r20 %\r\n", []string{"10 %", "20 %"}, []string{"10 %", "20 %"}},
		{"the last three are kept", "a\nb\nc\nd\n", []string{"a", "b", "c", "d"}, []string{"b", "c", "d"}},
		{"a long line is cut", long + "\n", []string{long[:2048], long[2048:]}, []string{long[:200] + "…", long[2048:2048+200] + "…"}},
		{"not within a character", "x" + long, []string{"x" + long[:2047], long[2047:]}, []string{"x" + long[:198] + "…", long[2048:2048+198] + "…"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			last := listen(strings.NewReader(tt.text), func(line string) { told = append(told, line) })
			require.Equal(t, tt.told, told)
			require.Equal(t, tt.last, last)
			told = nil
			listen(iotest.OneByteReader(strings.NewReader(tt.text)), func(line string) { told = append(told, line) })
			require.Equal(t, tt.told, told)
		})
	}
}
