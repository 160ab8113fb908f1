package doctor

import (
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/samplecache"
)

// members finds members that do not run.
func (m machine) members(s samplecache.Stats) (list []Finding) {
	if !m.known() {
		return nil
	}
	seen := map[int]bool{0: true}
	for _, one := range s.Members {
		if seen[one.PID] {
			continue
		}
		seen[one.PID] = true
		has := holdings(s, one.PID)
		switch m.state(one.PID) {
		case 'T', 't':
			do := fmt.Sprintf("let it go on by kill -CONT %d, or end it", one.PID)
			if has != "" {
				list = append(list, problem(do, "pid %d is stopped, and has %s", one.PID, has))
			} else {
				list = append(list, warning(do, "pid %d is stopped; if it has the lock, joining and publishing wait for it", one.PID))
			}
		case 'D':
			list = append(list, warning("look at the disks of the machine if it stays so", "pid %d waits for a disk%s", one.PID, having(has)))
		case 0:
			list = append(list, warning("find it by ps where it was started: a container or another job, whose pids are its own",
				"member pid %d is not a process of this container or job, but lives, since its locks are held%s", one.PID, having(has)))
		}
	}
	if n := len(seen) - 1; len(list) == 0 && n > 0 {
		list = append(list, fine("processes that are members: %d, all run", n))
	}
	return list
}

// having returns "; it has " + has, or "".
func having(has string) string {
	if has == "" {
		return ""
	}
	return "; it has " + has
}

// holdings lists the slots, names and locks of a process in the cache, or returns "".
func holdings(s samplecache.Stats, pid int) string {
	var has []string
	slots := 0
	for _, one := range s.Slots {
		if one.PID == pid {
			slots++
		}
	}
	if slots > 0 {
		has = append(has, fmt.Sprintf("reserved slots (%d)", slots))
	}
	for _, one := range s.Producers {
		if one.PID == pid {
			has = append(has, fmt.Sprintf("the name %q", one.Name))
		}
	}
	if strings.Contains(s.PublishWaits, fmt.Sprintf("pid %d,", pid)) {
		has = append(has, "the lock")
	}
	return strings.Join(has, " and ")
}
