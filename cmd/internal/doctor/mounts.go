package doctor

import (
	"slices"
	"strconv"
	"strings"
)

// A mount is a line of /proc/PID/mountinfo.
type mount struct {
	device  string // number of the file system, "8:1"
	root    string // which directory of the file system is mounted
	at      string
	kind    string // "tmpfs", "nfs4"
	options string // of the file system
}

// mounts returns the mounts that a process sees, "self" or a pid.
func (m machine) mounts(process string) (list []mount) {
	for line := range strings.Lines(m.text("proc/" + process + "/mountinfo")) {
		before, after, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 6 || len(right) < 2 {
			continue
		}
		one := mount{device: left[2], root: unescaped(left[3]), at: unescaped(left[4]), kind: right[0]}
		if len(right) > 2 {
			one.options = right[2]
		}
		list = append(list, one)
	}
	return list
}

// unescaped replaces \040 and its like, as mountinfo writes blanks and line ends.
func unescaped(text string) string {
	for i := 0; i+3 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if c, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
			text = text[:i] + string([]byte{byte(c)}) + text[i+4:]
		}
	}
	return text
}

// mountOf returns the mount of a path: the deepest one, and of several at one place the last.
func mountOf(list []mount, path string) (found mount) {
	for _, one := range list {
		below := one.at == path || one.at == "/" || strings.HasPrefix(path, one.at+"/")
		if below && len(one.at) >= len(found.at) {
			found = one
		}
	}
	return found
}

// inMemory reports whether files of the mount are in memory.
func (one mount) inMemory() bool {
	return slices.Contains([]string{"tmpfs", "ramfs", "devtmpfs"}, one.kind)
}

// localFUSE are file systems of FUSE that are local.
var localFUSE = []string{"fuseblk", "fuse.fuse-overlayfs", "fuse.lxcfs", "fuse.mergerfs"}

// shared finds file systems that are on other machines, too, and that dircache takes for local.
func (one mount) shared() []Finding {
	if !strings.HasPrefix(one.kind, "fuse") || slices.Contains(localFUSE, one.kind) {
		return nil
	}
	return []Finding{warning("if other machines see its files too, use a local disk, /dev/shm or nats://HOST/NAME",
		"%s is a file system of FUSE (%s), which may be shared with other machines", one.at, one.kind)}
}

// initPIDs is the pid namespace of the machine itself; its number is part of Linux.
const initPIDs = "pid:[4026531836]"

// howShared says how to find out whether two jobs see one directory.
const howShared = "run stat -c %d PATH in both jobs: they share it if the numbers are equal; if not, start both in one job, use a directory on a local disk that both see, or nats://HOST/NAME"

// private finds out whether other jobs of this machine see the directory at path.
func (m machine) private(path string) []Finding {
	own := mountOf(m.mounts("self"), path)
	do := strings.ReplaceAll(howShared, "PATH", path)
	if own.at == "" {
		return nil
	}
	if own.kind == "overlay" && own.at == "/" {
		return []Finding{warning(do, "%s is inside a container: other containers do not see it, and it ends with this one", path)}
	}
	if pids := m.link("proc/self/ns/pid"); pids != "" && pids != initPIDs {
		return []Finding{warning(do, "this process is in a container or a job with its own processes: another job may see another directory at %s", path)}
	}
	first := mountOf(m.mounts("1"), path)
	job := m.env("SLURM_JOB_ID")
	switch {
	case first.at != "" && (first.device != own.device || first.root != own.root):
		return []Finding{warning(do, "%s is private to this job: pid 1 has another directory there, so another job sees another cache", path)}
	case first.at != "" && own.at != "/":
		return []Finding{fine("%s is not private to this job: pid 1 sees it at the same place (file system %s)", path, own.device)}
	case first.at != "":
		return []Finding{fine("%s is not private to this job: pid 1 sees it at the same place", path)}
	case job != "" && (strings.Contains(own.root, "/"+job+"/") || strings.Contains(own.root, "/"+job+".") || own.inMemory()):
		return []Finding{warning(do, "%s may be private to job %s, as SLURM's job_container/tmpfs makes it: another job may see another cache", path, job)}
	}
	return nil
}
