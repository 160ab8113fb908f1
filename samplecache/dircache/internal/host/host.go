package host

import (
	"io/fs"
	"strings"
	"time"
)

// maxID is the number of bytes of an id to keep. Ids of current systems have at most 36.
const maxID = 64

// Machine returns an id of the machine that survives restarts, or "" if none is known: on Linux the
// id in /etc/machine-id or otherwise D-Bus's, on macOS kern.uuid. It has at most 64 bytes. Machine
// returns an error if there may be an id that cannot be read now, for example because the process
// has no descriptor left. Safe for concurrent use.
func Machine() (string, error) { return firstID(machineIDs()) }

// Boot returns an id of the running kernel, of at most 64 bytes, which differs for each start of
// the machine. It returns "" if the system has no such id, and the errors of [Machine]. Safe for
// concurrent use.
func Boot() (string, error) { return firstID(bootIDs()) }

// firstID returns the first text that is an id. While a machine is being set up, its id is
// "uninitialized".
func firstID(texts []string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	for _, text := range texts {
		id := strings.TrimSpace(text)
		if id != "" && id != "uninitialized" {
			return id[:min(len(id), maxID)], nil
		}
	}
	return "", nil
}

// Network reports whether a path, which must exist, is on a network file system, and returns its
// name, such as "nfs". A directory that a host shares with a virtual machine (9P) counts as one.
// For a local file system name is "". On systems other than Linux and macOS every file system
// counts as local. Safe for concurrent use.
func Network(path string) (name string, yes bool, err error) {
	name, err = network(path)
	return name, name != "", err
}

// MountBelow returns a mount point that is a directory or below it, or "" if there is none. dir is
// absolute and without symbolic links. Systems other than Linux do not tell. Safe for concurrent
// use.
func MountBelow(dir string) (string, error) { return mountBelow(dir) }

// Lockers returns, for each file, the pids of the processes that have a lock of flock(2) on it, as
// far as they are known: on Linux processes of the same pid namespace or one within it. It does not
// know locks on file systems that number their files in more than one way, such as btrfs. On other
// systems it returns nil. Safe for concurrent use.
func Lockers(files []fs.FileInfo) [][]int {
	if len(files) == 0 {
		return nil
	}
	return lockers(files)
}

// An anchor is a pair of simultaneous readings of the machine's clock and of this process's clock.
type anchor struct {
	machine time.Duration
	process time.Time
}

// start is the anchor of this process.
var start = newAnchor()

// newAnchor returns an anchor. The two clocks cannot be read at once: of several tries it keeps the
// one with the least time between the readings.
func newAnchor() anchor {
	best, least := anchor{}, time.Duration(-1)
	for range 5 {
		before := time.Now()
		machine := clock()
		if passed := time.Since(before); least < 0 || passed < least {
			best, least = anchor{machine, before}, passed
		}
	}
	return best
}

// Monotonic returns the time of a clock that nobody sets and that never goes back.
//
// On Linux it is CLOCK_MONOTONIC, which is also the basis of Go's monotonic time. It is the same
// for all processes of the machine, so a process may compare its reading with one that another
// process wrote, to within about a microsecond. On macOS it is CLOCK_UPTIME_RAW, for the same
// reason: there CLOCK_MONOTONIC counts sleep and Go's clock does not, so a process started before a
// sleep would fall behind one started after it. On other systems it is the time since the process
// started, which other processes cannot use.
//
// It allocates nothing and makes no system call. Safe for concurrent use.
func Monotonic() time.Duration { return start.machine + time.Since(start.process) }
