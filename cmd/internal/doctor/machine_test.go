package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machineOf returns a machine that has these files; a text that begins with -> is a link.
func machineOf(t *testing.T, files map[string]string) machine {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		if to, ok := strings.CutPrefix(text, "->"); ok {
			require.NoError(t, os.Symlink(to, at))
			continue
		}
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	return machine{root, func(string) (int64, error) { return 0, errors.ErrUnsupported }, func(string) string { return "" }}
}

const (
	v2Mount = "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n"
	v1Mount = "31 20 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n32 20 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)

// TestGroups reads the limits of memory along the whole path.
func TestGroups(t *testing.T) {
	for _, tt := range []struct {
		rule  string
		files map[string]string
		want  []group
	}{
		{"no files, no limits", nil, nil},
		{"version 2: each group above counts", map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/slurm/job_7/step_0\n",
			"sys/fs/cgroup/slurm/job_7/step_0/memory.max": "max\n", "sys/fs/cgroup/slurm/job_7/step_0/memory.current": "5\n",
			"sys/fs/cgroup/slurm/job_7/memory.max": "4096\n", "sys/fs/cgroup/slurm/job_7/memory.current": "10\n",
			"sys/fs/cgroup/slurm/memory.max": "8192\n",
		}, []group{{"/sys/fs/cgroup/slurm/job_7", 4096, 10}, {"/sys/fs/cgroup/slurm", 8192, 0}}},
		{"version 1: a number near 2^63 is no limit", map[string]string{
			"proc/self/mountinfo": v1Mount, "proc/self/cgroup": "4:cpu,memory:/a/b\n1:cpu:/x\n0::/\n",
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "100\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "60\n",
		}, []group{{"/sys/fs/cgroup/memory/a", 100, 60}}},
		{"both versions: the one with the controller", map[string]string{
			"proc/self/mountinfo": v2Mount + v1Mount, "proc/self/cgroup": "4:memory:/a\n0::/a\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "100", "sys/fs/cgroup/a/cgroup.procs": "1",
		}, []group{{"/sys/fs/cgroup/memory/a", 100, 0}}},
		{"a container has its group in place of the topmost one", map[string]string{
			"proc/self/mountinfo": "30 20 0:26 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "proc/self/cgroup": "0::/docker/c1\n",
			"sys/fs/cgroup/memory.max": "77",
		}, []group{{"/sys/fs/cgroup", 77, 0}}},
		{"a group whose name begins like the root is another", map[string]string{
			"proc/self/mountinfo": "30 20 0:26 /docker/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "proc/self/cgroup": "0::/docker/c11\n",
			"sys/fs/cgroup/1/memory.max": "78",
		}, nil},
		{"a path does not leave the mount", map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/../../secret\n",
			"sys/secret/memory.max": "1", "secret/memory.max": "1", "sys/fs/cgroup/secret/memory.max": "9",
		}, []group{{"/sys/fs/cgroup/secret", 9, 0}}},
		{"a name may have colons", map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/a:b\n", "sys/fs/cgroup/a:b/memory.max": "9",
		}, []group{{"/sys/fs/cgroup/a:b", 9, 0}}},
		{"texts that are none", map[string]string{
			"proc/self/mountinfo": "\x00\n - \n1 2 - cgroup2 x\n" + v2Mount, "proc/self/cgroup": "0\n:::\n0::/a\n\xff",
			"sys/fs/cgroup/a/memory.max": "-5", "sys/fs/cgroup/memory.max": "1e9",
		}, nil},
	} {
		require.Equal(t, tt.want, machineOf(t, tt.files).groups(), tt.rule)
	}
}

// TestMountOf has lines as machines have them.
func TestMountOf(t *testing.T) {
	m := machineOf(t, map[string]string{"proc/self/mountinfo": `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
25 22 0:23 / /dev/shm rw,nosuid shared:4 master:2 - tmpfs tmpfs rw,size=24684084k
26 22 0:40 / /home rw - nfs4 server:/home rw,vers=4.2
27 22 0:41 / /scratch rw - lustre 10.0.0.1@tcp:/lus rw
28 22 8:1 /job/7/tmp /tmp rw - ext4 /dev/sda1 rw
29 22 0:42 / /mnt/a\040b\134 rw - fuse.sshfs host:/x rw
30 25 0:50 / /dev/shm rw - tmpfs tmpfs rw,size=64m
31 22 0:51 / /o rw - overlay overlay rw,lowerdir=/a - b
`})
	for _, tt := range []struct{ rule, path, kind, device, root string }{
		{"the root has what no other has", "/var/x", "ext4", "8:1", "/"},
		{"the last of two at one place", "/dev/shm/c", "tmpfs", "0:50", "/"},
		{"the place itself", "/dev/shm", "tmpfs", "0:50", "/"},
		{"a name that only begins like a place", "/dev/shmem", "ext4", "8:1", "/"},
		{"nfs", "/home/me/c", "nfs4", "0:40", "/"},
		{"lustre", "/scratch/c", "lustre", "0:41", "/"},
		{"a part of a disk", "/tmp/c", "ext4", "8:1", "/job/7/tmp"},
		{"blanks and backslashes are escaped", `/mnt/a b\/c`, "fuse.sshfs", "0:42", "/"},
		{"options may have a hyphen", "/o/c", "overlay", "0:51", "/"},
	} {
		got := mountOf(m.mounts("self"), tt.path)
		require.Equal(t, []string{tt.kind, tt.device, tt.root}, []string{got.kind, got.device, got.root}, tt.rule)
	}
	require.Zero(t, mountOf(machineOf(t, nil).mounts("self"), "/x"), "no file, no mount")
	require.Equal(t, `a\9zb\`, unescaped(`a\9zb\`), "not escaped")
}

// TestPrivate has a directory that other jobs see, or do not.
func TestPrivate(t *testing.T) {
	const host = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 22 0:23 / /dev/shm rw - tmpfs tmpfs rw\n"
	const job = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 22 0:99 / /dev/shm rw - tmpfs tmpfs rw\n28 22 8:1 /spool/7/.7 /tmp rw - ext4 /dev/sda1 rw\n"
	const pids = "->" + initPIDs
	for _, tt := range []struct {
		rule  string
		files map[string]string
		job   string
		path  string
		want  Severity
		says  string
	}{
		{"pid 1 sees the same", map[string]string{"proc/self/mountinfo": host, "proc/1/mountinfo": host, "proc/self/ns/pid": pids}, "7", "/dev/shm/c", Fine, "is not private"},
		{"another tmpfs at the place", map[string]string{"proc/self/mountinfo": job, "proc/1/mountinfo": host, "proc/self/ns/pid": pids}, "", "/dev/shm/c", Warning, "private to this job: pid 1 has another"},
		{"another part of the disk", map[string]string{"proc/self/mountinfo": job, "proc/1/mountinfo": host}, "", "/tmp/c", Warning, "private to this job: pid 1 has another"},
		{"SLURM's directory, and pid 1 cannot be asked", map[string]string{"proc/self/mountinfo": job}, "7", "/tmp/c", Warning, "may be private to job 7"},
		{"SLURM's tmpfs, and pid 1 cannot be asked", map[string]string{"proc/self/mountinfo": job}, "7", "/dev/shm/c", Warning, "may be private to job 7"},
		{"a disk in a job, and pid 1 cannot be asked", map[string]string{"proc/self/mountinfo": job}, "7", "/data/c", "", ""},
		{"no job, and pid 1 cannot be asked", map[string]string{"proc/self/mountinfo": host}, "", "/dev/shm/c", "", ""},
		{"other pids", map[string]string{"proc/self/mountinfo": host, "proc/1/mountinfo": host, "proc/self/ns/pid": "->pid:[4026532999]"}, "", "/dev/shm/c", Warning, "container"},
		{"the root of a container", map[string]string{"proc/self/mountinfo": "1 0 0:9 / / rw - overlay overlay rw\n", "proc/1/mountinfo": "1 0 0:9 / / rw - overlay overlay rw\n"}, "", "/c", Warning, "inside a container"},
		{"nothing is known", nil, "7", "/dev/shm/c", "", ""},
	} {
		m := machineOf(t, tt.files)
		m.env = func(string) string { return tt.job }
		got := m.private(tt.path)
		if tt.want == "" {
			require.Empty(t, got, tt.rule)
			continue
		}
		require.Len(t, got, 1, tt.rule)
		require.Equal(t, tt.want, got[0].Severity, "%s: %v", tt.rule, got)
		require.Contains(t, got[0].Text, tt.says, tt.rule)
		require.Equal(t, tt.want == Warning, strings.Contains(got[0].Do, "stat -c %d "+tt.path), tt.rule)
	}
}

// TestShared has file systems of FUSE, which the cache takes for local.
func TestShared(t *testing.T) {
	require.Len(t, mount{kind: "fuse.sshfs"}.shared(), 1)
	require.Empty(t, mount{kind: "fuseblk"}.shared())
	require.Empty(t, mount{kind: "ext4"}.shared())
}

// TestStates reads the states of processes.
func TestStates(t *testing.T) {
	m := machineOf(t, map[string]string{
		"proc/5/stat": "5 (a) b) S 1 5", "proc/6/stat": "6 (x) T 1", "proc/7/stat": "7 (x)", "proc/8/stat": "garbage",
		"proc/meminfo": "MemFree: 5 kB\nMemAvailable:   12 kB\n",
	})
	require.Equal(t, []byte{'S', 'T', 0, 0, 0}, []byte{m.state(5), m.state(6), m.state(7), m.state(8), m.state(9)})
	n, ok := m.available()
	require.Equal(t, int64(12<<10), n)
	require.True(t, ok)
	for _, text := range []string{"", "MemAvailable:", "MemAvailable: -1 kB", "MemAvailable: x kB", "MemAvailable: 9223372036854775807 kB", "MemAvailable: 5 MB"} {
		_, ok := machineOf(t, map[string]string{"proc/meminfo": text}).available()
		require.False(t, ok, text)
	}
}
