package host

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestContentsSkipsWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	require.NoError(t, os.WriteFile(a, []byte("1"), 0o666))
	require.NoError(t, os.WriteFile(b, []byte("2"), 0o666))
	texts, err := contents(a, filepath.Join(dir, "absent"), dir, b)
	require.NoError(t, err)
	require.Equal(t, []string{"1", "2"}, texts)
}

// A process that has no descriptor left does not say that the machine has no id.
func TestIDsWithoutDescriptors(t *testing.T) {
	var was unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	none := was
	none.Cur = 3
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &none))
	_, noMachine := Machine()
	_, noBoot := Boot()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was))
	require.ErrorIs(t, noMachine, unix.EMFILE)
	require.ErrorIs(t, noBoot, unix.EMFILE)
}

// Monotonic keeps to the clock it is anchored to.
func TestMonotonicIsTheSystemsClock(t *testing.T) {
	read := func() time.Duration {
		var now unix.Timespec
		require.NoError(t, unix.ClockGettime(unix.CLOCK_MONOTONIC, &now))
		return time.Duration(now.Nano())
	}
	closest := time.Hour
	for range 1000 {
		before, got, after := read(), Monotonic(), read()
		closest = min(closest, max(before-got, got-after))
	}
	require.Less(t, closest, time.Millisecond, "as little as the anchor is off")
}

func TestNetworkKnowsLocalDisks(t *testing.T) {
	for _, dir := range []string{"/proc", "/sys"} {
		name, yes, err := Network(dir)
		require.NoError(t, err)
		require.False(t, yes)
		require.Empty(t, name)
	}
}

// A mounted network file system is rare where tests run, so this checks what the kernel would say.
func TestMagicNumbers(t *testing.T) {
	want := map[uint32]string{
		0x6969: "nfs", 0x517b: "smb", 0xfe534d42: "smb2", 0xff534d42: "cifs", 0x01021997: "9p",
		0x00c36400: "ceph", 0x5346414f: "afs", 0x73757245: "coda", 0x0bd00bd0: "lustre",
		0x47504653: "gpfs", 0x19830326: "beegfs",
	}
	require.Equal(t, want, networks)
}
