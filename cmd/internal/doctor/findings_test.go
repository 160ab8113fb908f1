package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// cacheOf returns facts of a cache with generations of 1,000,000 bytes: 3 that are made, 2 that may
// be held.
func cacheOf(exists bool, held ...uint64) facts {
	f := facts{exists: exists, config: samplecache.Config{Samples: 1000, Retain: 1, MaxHeld: 2}, leaves: 1, sample: 892, largest: 892}
	f.stats.Held = held
	return f
}

// says compares findings with texts "severity text", of which each has its own finding, in order.
func says(t *testing.T, rule string, got []Finding, want ...string) {
	t.Helper()
	require.Len(t, got, len(want), "%s: %v", rule, got)
	for i, text := range want {
		severity, text, _ := strings.Cut(text, " ")
		require.Equal(t, Severity(severity), got[i].Severity, "%s: %v", rule, got)
		require.Contains(t, got[i].Text, text, rule)
		require.Equal(t, got[i].Severity != Fine, got[i].Do != "", "%s: what to do: %v", rule, got)
	}
}

// TestRoom compares what is free with the generations.
func TestRoom(t *testing.T) {
	for _, tt := range []struct {
		rule string
		f    facts
		free int64
		want string
	}{
		{"nothing is known", facts{}, 5, "ok the disk has 5 B free"},
		{"planned: more than a number can say", facts{config: samplecache.Config{Samples: 1 << 20, Retain: 16, MaxHeld: 64}, leaves: 1, sample: 1 << 62}, 5, "problem 18 generations need 1.3 EB"},
		{"planned: all fits", cacheOf(false), 5e6, "ok the disk has 5.0 MB free, and the cache may take 5.0 MB more, 5.0 MB in all"},
		{"planned: held generations do not fit", cacheOf(false), 5e6 - 1, "warning may take 5.0 MB more, 2.0 MB of it for generations that are read"},
		{"planned: what Create makes fits", cacheOf(false), 3e6, "warning "},
		{"planned: what Create makes does not fit", cacheOf(false), 3e6 - 1, "problem has 3.0 MB free, and 3 generations need 3.0 MB"},
		{"made: two may be held", cacheOf(true), 2e6, "ok may take 2.0 MB more, 5.0 MB in all"},
		{"made: no room for the second", cacheOf(true), 2e6 - 1, "warning may take 2.0 MB more"},
		{"made: one is held already", cacheOf(true, 1), 1e6, "ok may take 1.0 MB more"},
		{"made: more are held than allowed", cacheOf(true, 1, 2, 3), 0, "ok may take 0 B more"},
	} {
		says(t, tt.rule, []Finding{room(tt.f, tt.free, "the disk", "make room")}, tt.want)
	}
}

// TestNone has a cache that keeps no other generations.
func TestNone(t *testing.T) {
	f := facts{config: samplecache.Config{Samples: 1, Retain: -1, MaxHeld: -1}}
	require.Equal(t, []int64{2, 2}, []int64{f.made(), f.most()})
}

// TestMemoryLimit compares the limits of memory of a job with a cache on tmpfs.
func TestMemoryLimit(t *testing.T) {
	for _, tt := range []struct {
		rule        string
		f           facts
		limit, used int64
		want        string
	}{
		{"nothing is known", facts{}, 7e6, 0, "ok this job may use 7.0 MB of memory"},
		{"planned: more than what Create makes", cacheOf(false), 3e6 - 1, 0, "problem this job may use 3.0 MB of memory (/sys/fs/cgroup/a), the cache takes 3.0 MB"},
		{"planned: just what Create makes", cacheOf(false), 3e6, 0, "warning the cache takes 5.0 MB at most"},
		{"planned: less than all", cacheOf(false), 5e6 - 1, 0, "warning the cache takes 5.0 MB at most"},
		{"planned: the job has taken some", cacheOf(false), 6e6, 1e6 + 1, "warning uses 1.0 MB already"},
		{"planned: it fits", cacheOf(false), 6e6, 1e6, "ok this job may use 6.0 MB"},
		{"made: less than all", cacheOf(true), 5e6 - 1, 0, "warning the cache takes 5.0 MB at most"},
		{"made: the job has taken some", cacheOf(true), 6e6, 4e6 + 1, "warning the cache takes 2.0 MB besides"},
		{"made: it fits", cacheOf(true), 6e6, 4e6, "ok "},
	} {
		m := machineOf(t, map[string]string{
			"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n",
			"sys/fs/cgroup/a/memory.max": fmt.Sprint(tt.limit), "sys/fs/cgroup/a/memory.current": fmt.Sprint(tt.used),
		})
		says(t, tt.rule, m.memoryLimit(tt.f), tt.want)
	}
	nested := map[string]string{"proc/self/mountinfo": v2Mount, "proc/self/cgroup": "0::/a/b\n",
		"sys/fs/cgroup/a/b/memory.max": "9000000", "sys/fs/cgroup/a/memory.max": "8000000", "sys/fs/cgroup/a/memory.current": "6500000"}
	says(t, "the group above is fuller", machineOf(t, nested).memoryLimit(cacheOf(true)), "warning this job may use 8.0 MB of memory and uses 6.5 MB already (/sys/fs/cgroup/a)")
	nested["sys/fs/cgroup/a/memory.max"] = "4000000"
	says(t, "the group above has less", machineOf(t, nested).memoryLimit(cacheOf(true)), "warning this job may use 4.0 MB of memory (/sys/fs/cgroup/a), the cache takes 5.0 MB")
	says(t, "no limit", machineOf(t, map[string]string{"proc/self/mountinfo": v2Mount}).memoryLimit(cacheOf(true)), "ok no control group")
	require.Empty(t, machineOf(t, nil).memoryLimit(cacheOf(true)), "not Linux")
}

// TestPlaceOnTmpfs has memory that counts only for files in memory.
func TestPlaceOnTmpfs(t *testing.T) {
	m := machineOf(t, map[string]string{
		"proc/self/mountinfo": "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n25 22 0:23 / /dev/shm rw - tmpfs tmpfs rw\n26 22 0:24 / /ssh rw - fuse.sshfs x rw\n",
		"proc/meminfo":        "MemAvailable: 1000 kB\n",
	})
	m.disk = func(string) (int64, error) { return 10e6, nil }
	says(t, "tmpfs", m.place("/dev/shm", cacheOf(true)), "ok the file system of /dev/shm has 10.0 MB free", "warning the memory of this machine has 1.0 MB free", "ok no control group")
	says(t, "disk", m.place("/data", cacheOf(true)), "ok the file system of /data has 10.0 MB free")
	says(t, "FUSE", m.place("/ssh", cacheOf(true)), "warning /ssh is a file system of FUSE (fuse.sshfs)", "ok ")
}

const plentiful = "Limit    Soft Limit  Hard Limit  Units\nMax file size    unlimited  unlimited bytes\nMax open files  1024  524288  files\nMax address space  unlimited  unlimited  bytes\n"

// TestLimits compares the limits of processes with the cache.
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		rule, old, new, maps string
		f                    facts
		want                 []string
	}{
		{"all suffice", "", "", "65530\n", cacheOf(true), []string{"ok limits of files"}},
		{"a file of a leaf fits", "size    unlimited", "size 892000", "65530", cacheOf(true), []string{"ok "}},
		{"a file of a leaf does not fit", "size    unlimited", "size 891999", "65530", cacheOf(true), []string{"problem files may have 892.0 kB at most"}},
		{"a limit of files, and no cache", "size    unlimited", "size 5", "65530", facts{}, []string{"problem files may have 5 B at most"}},
		{"the whole cache is mapped", "space  unlimited", "space 1078741823", "65530", cacheOf(true), []string{"problem processes may map 1.1 GB"}},
		{"the whole cache fits", "space  unlimited", "space 1078741824", "65530", cacheOf(true), []string{"ok "}},
		{"few descriptors", "1024", "50", "65530", cacheOf(true), []string{"warning processes may have 50 open files, one that uses the cache needs 52"}},
		{"few mappings", "", "", "39", cacheOf(true), []string{"problem processes may have 39 mappings"}},
		{"enough mappings", "", "", "40", cacheOf(true), []string{"ok "}},
		{"texts that are none", "1024", "many", "65530 and more", cacheOf(true), []string{"ok "}},
	} {
		m := machineOf(t, map[string]string{"proc/self/mountinfo": v2Mount, "proc/self/limits": strings.Replace(plentiful, tt.old, tt.new, 1), "proc/sys/vm/max_map_count": tt.maps})
		says(t, tt.rule, m.limits(tt.f), tt.want...)
	}
	require.Empty(t, machineOf(t, nil).limits(cacheOf(true)), "not Linux")
}

// TestMembers has members that run, are stopped, wait, or are not here.
func TestMembers(t *testing.T) {
	m := machineOf(t, map[string]string{
		"proc/self/mountinfo": v2Mount, "proc/1/stat": "1 (me) R 0", "proc/2/stat": "2 (x) S 1", "proc/3/stat": "3 (x) T 1", "proc/4/stat": "4 (x) t 1", "proc/5/stat": "5 (x) D 1",
	})
	member := func(pids ...int) (s samplecache.Stats) {
		for _, pid := range pids {
			s.Members = append(s.Members, samplecache.MemberStats{PID: pid})
		}
		return s
	}
	holding := func(pid int) samplecache.Stats {
		s := member(pid)
		s.Slots = []samplecache.SlotStats{{PID: pid}, {PID: pid}, {PID: 77}}
		s.Producers = []samplecache.ProducerStats{{Name: "gen", PID: pid}}
		s.PublishWaits = fmt.Sprintf("pid %d, which has the lock", pid)
		return s
	}
	says(t, "all run", m.members(member(1, 2, 2)), "ok processes that are members: 2, all run")
	says(t, "stopped, with nothing", m.members(member(2, 3)), "warning pid 3 is stopped")
	says(t, "stopped by a debugger, with things", m.members(holding(4)), `problem pid 4 is stopped, and has reserved slots (2) and the name "gen" and the lock`)
	says(t, "waits for a disk", m.members(holding(5)), "warning pid 5 waits for a disk; it has reserved slots (2)")
	says(t, "not here", m.members(member(9)), "warning member pid 9 is not a process of this container")
	says(t, "unknown pid", m.members(member(0)))
	require.Empty(t, machineOf(t, nil).members(member(9)), "not Linux")
}

// TestAllowed has modes of directories.
func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		rule string
		mode uint32
		err  error
		want string
	}{
		{"mine", 0o755, nil, "ok this user may write to /c (user ann, group lab, mode 0755)"},
		{"of a group", 0o2775, nil, "ok mode 2775"},
		{"of a group that files do not get", 0o775, nil, "warning get another group"},
		{"of everybody", 0o1777, nil, "warning every user of the machine may damage /c (user ann, group lab, mode 1777)"},
		{"another's", 0o755, fs.ErrPermission, "problem this user may not write to /c"},
	} {
		says(t, tt.rule, allowed("/c", tt.mode, "ann", "lab", tt.err), tt.want)
	}
}

// TestOpened has an error of each kind.
func TestOpened(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
		do   string
	}{
		{fmt.Errorf("x: %w: nfs is a network file system", samplecache.ErrOtherHost), "problem ", "nats://HOST/NAME for several machines"},
		{fmt.Errorf("x: %w: it was used on b", samplecache.ErrOtherHost), "problem ", "Adopt"},
		{fmt.Errorf("network: %w: it was used on b", samplecache.ErrOtherHost), "problem ", "Adopt"},
		{dircache.ErrRestarted, "ok the machine was restarted", ""},
		{fs.ErrPermission, "problem permission", "2775"},
		{samplecache.ErrCorrupt, "problem corrupt", "make it again"},
		{errors.ErrUnsupported, "problem unsupported", "make it again"},
		{fs.ErrNotExist, "problem c is not a cache", "tdict cache create"},
		{errors.New("odd"), "problem odd", "After a crash"},
	} {
		got := opened("c", facts{}, tt.err)
		says(t, tt.want, []Finding{got}, tt.want)
		require.Contains(t, got.Do, tt.do)
	}
	var f facts
	f.stats.Latest, f.stats.Committed, f.stats.Samples = 3, 4, 5
	says(t, "a cache", []Finding{opened("c", f, nil)}, "ok c is a cache: generation 3 is the latest, the next has 4 of 5 samples")
	f.stats.PublishWaits = "readers"
	says(t, "nobody waits", []Finding{opened("c", f, nil)}, "ok c is a cache")
	f.stats.Members = make([]samplecache.MemberStats, 1)
	says(t, "a cache that waits", []Finding{opened("c", f, nil)}, "warning the next generation waits for readers")
}

// TestText has findings as lines, and numbers of bytes.
func TestText(t *testing.T) {
	require.Equal(t, "ok       a", fine("a").String())
	require.Equal(t, "warning  a: do b", warning("do b", "a").String())
	require.Equal(t, "problem  a 1: do b", problem("do b", "a %d", 1).String())
	require.True(t, Bad([]Finding{fine("a"), problem("b", "a")}))
	require.False(t, Bad([]Finding{fine("a"), warning("b", "a")}))
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 999_949: "999.9 kB", 999_950: "1.0 MB", 1_500_000_000: "1.5 GB", 1<<63 - 1: "9.2 EB"} {
		require.Equal(t, want, Size(n))
	}
}
