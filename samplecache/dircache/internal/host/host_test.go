package host_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/dircache/internal/host"
)

// tell is set for a process that writes what it knows of the machine, and ends.
const tell = "HOST_TEST_TELL"

func TestMain(m *testing.M) {
	if os.Getenv(tell) != "" {
		machine, boot := ids()
		_, _ = os.Stdout.WriteString(strings.Join([]string{machine, boot, host.Monotonic().String()}, "\n"))
		return
	}
	os.Exit(m.Run())
}

// ids returns both ids.
func ids() (machine, boot string) {
	machine, err := host.Machine()
	boot, failed := host.Boot()
	if err = errors.Join(err, failed); err != nil {
		panic(err)
	}
	return machine, boot
}

// another returns what another process says.
func another(t *testing.T) (machine, boot string, clock time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), tell+"=1")
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := strings.Split(string(out), "\n")
	require.Len(t, lines, 3)
	clock, err = time.ParseDuration(lines[2])
	require.NoError(t, err)
	return lines[0], lines[1], clock
}

func TestProcessesAgree(t *testing.T) {
	before := host.Monotonic()
	machine, boot, between := another(t)
	after := host.Monotonic()
	thisMachine, thisBoot := ids()
	require.Equal(t, thisMachine, machine)
	require.Equal(t, thisBoot, boot)
	if shared := runtime.GOOS == "linux" || runtime.GOOS == "darwin"; shared {
		require.Less(t, before, between)
		require.Less(t, between, after)
		require.NotEmpty(t, boot)
	}
}

func TestIDsAreShortWords(t *testing.T) {
	machine, boot := ids()
	for _, id := range []string{machine, boot} {
		require.LessOrEqual(t, len(id), 64)
		require.Equal(t, strings.Join(strings.Fields(id), ""), id)
	}
}

func TestMonotonicNeverGoesBack(t *testing.T) {
	last := host.Monotonic()
	for range 100_000 {
		now := host.Monotonic()
		require.False(t, now < last)
		last = now
	}
}

func TestMonotonicAllocatesNothing(t *testing.T) {
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = host.Monotonic() }))
}

func TestNetwork(t *testing.T) {
	dir := t.TempDir()
	name, yes, err := host.Network(dir)
	require.NoError(t, err)
	require.Equal(t, yes, name != "")
	_, _, err = host.Network(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func BenchmarkMonotonic(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = host.Monotonic()
	}
}
