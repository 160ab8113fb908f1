package host

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseLocks reads texts of the kernel, and texts that it does not write.
func TestParseLocks(t *testing.T) {
	const text = `1: POSIX  ADVISORY  WRITE 900 08:01:131 0 EOF
2: FLOCK  ADVISORY  READ 1234 08:01:131 0 EOF
2: -> FLOCK  ADVISORY  WRITE 1235 08:01:131 0 EOF
3: FLOCK  ADVISORY  READ 1236 08:01:131 0 EOF
4: OFDLCK ADVISORY  WRITE -1 08:01:131 0 0
5: FLOCK  ADVISORY  READ 1234 08:01:131 0 EOF
6: FLOCK  ADVISORY  READ 77 00:1a:132 0 EOF
7: FLOCK  ADVISORY  READ 0 00:1a:132 0 EOF
8: FLOCK  ADVISORY  READ -1 00:1a:132 0 EOF
9: LEASE  ACTIVE    READ 78 00:1a:132 0 EOF
`
	for rule, tt := range map[string]struct {
		text string
		ids  []string
		want [][]int
	}{
		"two files":                  {text, []string{"08:01:131", "00:1a:132"}, [][]int{{1234, 1236}, {77}}},
		"another device":             {text, []string{"08:02:131"}, [][]int{nil}},
		"an id that is not known":    {text, []string{""}, [][]int{nil}},
		"no files":                   {text, nil, [][]int{}},
		"nothing":                    {"", []string{"a"}, [][]int{nil}},
		"short lines":                {"\n1:\n1: FLOCK\n1: FLOCK ADVISORY READ 7\n", []string{""}, [][]int{nil}},
		"a pid that is not a number": {"1: FLOCK ADVISORY READ x a 0 EOF\n1: FLOCK ADVISORY READ 99999999999999999999 a 0 EOF\n", []string{"a"}, [][]int{nil}},
		"a line without an end":      {"1: FLOCK ADVISORY READ 7 a\n" + strings.Repeat("x", 1<<20), []string{"a"}, [][]int{{7}}},
	} {
		require.Equal(t, tt.want, parseLocks(strings.NewReader(tt.text), tt.ids), rule)
	}
}

// TestLockers asks for a lock of this process.
func TestLockers(t *testing.T) {
	var dirs []os.FileInfo
	for range 2 {
		info, err := os.Stat(t.TempDir())
		require.NoError(t, err)
		dirs = append(dirs, info)
	}
	dir := t.TempDir()
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_SH))
	locked, err := f.Stat()
	require.NoError(t, err)
	got := Lockers(append(dirs, locked))
	if list, err := os.ReadFile("/proc/locks"); err != nil || !strings.Contains(string(list), "FLOCK") {
		t.Skip("the system does not list locks")
	}
	require.Equal(t, [][]int{nil, nil, {os.Getpid()}}, got)
	require.NoError(t, syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
	require.Empty(t, Lockers([]os.FileInfo{locked})[0])
}
