package host

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseMounts reads texts of the kernel, and texts that it does not write.
func TestParseMounts(t *testing.T) {
	const list = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
23 22 0:5 / /dev/shm rw - tmpfs tmpfs rw
24 23 8:1 /etc /dev/shm/c/gen-0000000001 rw - ext4 /dev/sda1 rw
25 22 8:1 / /mnt/a\040b\134c rw - ext4 /dev/sda1 rw
short line
26 22 8:1 / /mnt/odd\9 rw
`
	for dir, want := range map[string]string{
		"/dev/shm/c":                "/dev/shm/c/gen-0000000001",
		"/dev/shm/c/gen-0000000001": "/dev/shm/c/gen-0000000001",
		"/dev/shm/c/gen":            "",
		"/dev/shm/d":                "",
		"/dev/shm":                  "/dev/shm",
		"/":                         "/",
		`/mnt/a b\c`:                `/mnt/a b\c`,
		`/mnt/odd\9`:                `/mnt/odd\9`,
		"/mnt":                      `/mnt/a b\c`,
	} {
		require.Equal(t, want, parseMounts(list, dir), dir)
	}
	require.Empty(t, parseMounts("", "/"))
	at, err := MountBelow("/")
	require.NoError(t, err)
	require.NotEmpty(t, at)
}
