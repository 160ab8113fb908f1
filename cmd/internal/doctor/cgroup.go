package doctor

import (
	"math"
	"path"
	"slices"
	"strings"
)

// A group is a control group with a memory limit.
type group struct {
	name        string // its directory
	limit, used int64  // bytes
}

// noLimit and greater numbers say in cgroup v1 that there is no limit: the kernel has 2^63 less a
// page.
const noLimit = math.MaxInt64 - 1<<20

// groups returns the control groups with a memory limit that this process is in. Each counts the
// memory of all groups below it.
func (m machine) groups() (list []group) {
	mounts := m.mounts("self")
	for line := range strings.Lines(m.text("proc/self/cgroup")) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) != 3 {
			continue
		}
		v2 := fields[0] == "0" && fields[1] == ""
		if !v2 && !slices.Contains(strings.Split(fields[1], ","), "memory") {
			continue
		}
		i := slices.IndexFunc(mounts, func(one mount) bool { return one.hasMemory(v2) })
		if i >= 0 {
			list = append(list, m.groupsUp(mounts[i], fields[2], v2)...)
		}
	}
	return list
}

// hasMemory reports whether the mount has the control groups for memory of a version.
func (one mount) hasMemory(v2 bool) bool {
	if v2 {
		return one.kind == "cgroup2"
	}
	return one.kind == "cgroup" && slices.Contains(strings.Split(one.options, ","), "memory")
}

// groupsUp returns the groups with a limit from name up to the mount. A container may have mounted
// the group itself in place of the topmost one.
func (m machine) groupsUp(at mount, name string, v2 bool) (list []group) {
	if at.root != "/" && (name == at.root || strings.HasPrefix(name, at.root+"/")) {
		name = strings.TrimPrefix(name, at.root)
	}
	limitFile, usedFile := "memory.limit_in_bytes", "memory.usage_in_bytes"
	if v2 {
		limitFile, usedFile = "memory.max", "memory.current"
	}
	for name = path.Clean("/" + name); ; name = path.Dir(name) {
		dir := path.Join(at.at, name)
		if limit, ok := m.number(path.Join(dir, limitFile)); ok && limit < noLimit {
			used, _ := m.number(path.Join(dir, usedFile)) // 0 if it is not known
			list = append(list, group{dir, limit, used})
		}
		if name == "/" {
			return list
		}
	}
}
