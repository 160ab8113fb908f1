package host

import (
	"strings"
	"time"
)

// maxID is how many bytes of an id are kept. Those of today's systems have at most 36.
const maxID = 64

// Machine returns an id of the machine that stays the same when it is started again, or "" if none
// is known: on Linux that of /etc/machine-id or else of D-Bus, on macOS kern.uuid. It has at most
// 64 bytes. It returns an error if there may be an id that cannot be read now, as when the process
// has no descriptor left. Safe for concurrent use.
func Machine() (string, error) { return firstID(machineIDs()) }

// Boot returns an id of the running kernel, of at most 64 bytes. Each start of the machine has
// another. Boot returns "" where the system has no such id, and the errors of [Machine]. Safe for
// concurrent use.
func Boot() (string, error) { return firstID(bootIDs()) }

// firstID returns the first of the texts that is an id. While a machine is being set up, the word
// "uninitialized" stands for one.
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

// Network reports whether a path, which must exist, lies on a network file system, and its name,
// "nfs" for instance. A directory that the machine below shares with a virtual machine (9P) counts
// as one. The name of a local file system is "". On systems other than Linux and macOS nothing
// counts as one. Safe for concurrent use.
func Network(path string) (name string, yes bool, err error) {
	name, err = network(path)
	return name, name != "", err
}

// An anchor says what the machine's clock was when this process's clock showed a time.
type anchor struct {
	machine time.Duration
	process time.Time
}

// dropped is where this process let its anchor down.
var dropped = drop()

// drop returns an anchor. The two clocks cannot be read at once: of a few tries the one counts in
// which the least time passed between them.
func drop() anchor {
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

// Monotonic returns what a clock shows that nobody sets and that never goes back.
//
// On Linux it is CLOCK_MONOTONIC, which is also the clock below Go's own monotonic time: one for
// all processes of the machine, so that one may compare what it reads with what another wrote, to
// within a microsecond or so. On macOS it is CLOCK_UPTIME_RAW, for the same reason:
// CLOCK_MONOTONIC counts sleep there and Go's clock does not, so a process started before a sleep
// would fall behind one started after it. On other systems it is the time since the process
// started, which says nothing to others.
//
// It allocates nothing and makes no system call. Safe for concurrent use.
func Monotonic() time.Duration { return dropped.machine + time.Since(dropped.process) }
