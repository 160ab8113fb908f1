package command

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
)

// terminal opens both ends of a terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals: ", err)
	}
	return master, slave
}

// TestBarFits draws bars on terminals of several widths.
func TestBarFits(t *testing.T) {
	for _, columns := range []int{30, 60, 80, 200} {
		master, slave := terminal(t)
		require.NoError(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
		s := newSession(t.Context(), io.Discard, slave)
		s.name, s.start = "schema check", time.Now().Add(-2*time.Second)
		for done := range int64(4) {
			s.progress(done*700_000_000, 3_000_000_000)
			time.Sleep(120 * time.Millisecond)
		}
		require.NoError(t, slave.Close())
		drawn, _ := io.ReadAll(master) // ends with EIO
		require.NoError(t, master.Close())
		require.Contains(t, string(drawn), "schema check")
		for line := range strings.SplitSeq(string(drawn), "\r") {
			require.LessOrEqual(t, utf8.RuneCountInString(line), columns, line)
		}
	}
}

// onTerminal runs the command with a terminal as standard output and error, and returns what
// appears there.
func onTerminal(t *testing.T, dir string, args ...string) (text string, code int) {
	t.Helper()
	master, slave := terminal(t)
	defer master.Close()
	cmd := exec.CommandContext(t.Context(), executable(t), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, slave
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	all, _ := io.ReadAll(master) // ends with EIO when the command has ended
	_ = cmd.Wait()               // the exit code says more
	return string(all), cmd.ProcessState.ExitCode()
}

// TestTerminal sees that data which commands a terminal does not reach it.
func TestTerminal(t *testing.T) {
	dir := testkit.TempDir(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "odd.csv"), []byte("a\x1b[31m,b,c\n1,\x1b[2J,7\n"), 0o666))
	require.Equal(t, 0, command(t, dir, "convert", "odd.csv", "odd").code)
	for _, as := range []string{"text", "csv", "jsonl"} {
		text, code := onTerminal(t, dir, "head", "odd", "--as", as)
		require.Zero(t, code, text)
		require.NotContains(t, text, "\x1b", as)
		require.Contains(t, text, `[31m`, as)
	}
	text, code := onTerminal(t, dir, "head", "odd", "c", "--as", "npy")
	require.Equal(t, exitUsage, code)
	require.Contains(t, text, "redirect standard output to a file")
}

// TestWatchOnATerminal draws in place on a terminal that is too small, and restores it at the end.
func TestWatchOnATerminal(t *testing.T) {
	const rows, columns = 4, 30
	dir := testkit.TempDir(t)
	makeBrains(t, dir, samplecache.Config{Samples: 2})
	putBrains(t, openBrains(t, dir), "odd\x1b[2J", 3)
	master, slave := terminal(t)
	defer master.Close()
	require.NoError(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}))
	cmd := exec.CommandContext(t.Context(), executable(t), "cache", "status", "brains", "--watch", "--every", "5ms")
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, slave
	require.NoError(t, cmd.Start())
	require.NoError(t, slave.Close())
	drawn, buffer, stopped := "", make([]byte, 1<<16), false
	for {
		n, err := master.Read(buffer)
		if err != nil {
			break // EIO when the command has ended
		}
		drawn += string(buffer[:n])
		if !stopped && strings.Count(drawn, "\x1b[J") >= 3 {
			stopped = true
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		}
	}
	require.NoError(t, cmd.Wait())
	before, rest, ok := strings.Cut(drawn, "\x1b[?1049h\x1b[?25l\x1b[2J")
	require.True(t, ok)
	require.Empty(t, before)
	screens, after, ok := strings.Cut(rest, "\x1b[?25h\x1b[?1049l")
	require.True(t, ok, "it is restored")
	require.NotContains(t, after, "\x1b")
	require.Contains(t, after, `"odd\x1b[2J": numbers below 3 are committed`, "the last look stays, whole")
	for i, one := range strings.Split(strings.TrimSuffix(screens, "\x1b[J"), "\x1b[J") {
		one, ok = strings.CutPrefix(one, "\x1b[H")
		require.True(t, ok, "look %d begins at the top", i)
		lines := strings.Split(one, "\x1b[K\r\n")
		require.Len(t, lines, rows)
		for _, line := range lines {
			line = strings.TrimSuffix(line, "\x1b[K")
			require.LessOrEqual(t, utf8.RuneCountInString(line), columns)
			require.NotContains(t, line, "\x1b")
		}
		require.Regexp(t, regexp.MustCompile(`^\.\.\. and [0-9]+ lines more`), lines[rows-1])
	}
}
