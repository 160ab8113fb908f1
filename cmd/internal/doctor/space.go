package doctor

import (
	"cmp"
	"slices"
)

// place examines the file system and the memory of a directory for a cache with facts f.
func (m machine) place(at string, f facts) []Finding {
	mount := mountOf(m.mounts("self"), at)
	list := mount.shared()
	list = append(list, m.private(at)...)
	if free, err := m.disk(at); err == nil {
		list = append(list, room(f, free, "the file system of "+at, "make room, or fewer or smaller generations"))
	}
	if !mount.inMemory() {
		return list
	}
	if free, ok := m.available(); ok {
		list = append(list, room(f, free, "the memory of this machine", "use fewer or smaller generations, or a directory on a disk"))
	}
	return append(list, m.memoryLimit(f)...)
}

// room compares the free bytes with the bytes that the cache takes now, and at most.
func room(f facts, free int64, what, do string) Finding {
	switch now, later := f.now(), f.later(); {
	case f.sample == 0:
		return fine("%s has %s free", what, Size(free))
	case now > free:
		return problem(do, "%s has %s free, and %d generations need %s", what, Size(free), f.made(), Size(now))
	case now+later > free:
		return warning(do+"; otherwise producers wait while old generations are read", "%s has %s free, and the cache may take %s more, %s of it for generations that are read",
			what, Size(free), Size(now+later), Size(later))
	default:
		return fine("%s has %s free, and the cache may take %s more, %s in all", what, Size(free), Size(now+later), Size(f.total()))
	}
}

// memoryLimit compares the limits of memory of this process's control groups with a cache in
// memory. The system counts a page for the process that writes it first.
func (m machine) memoryLimit(f facts) []Finding {
	all := m.groups()
	switch {
	case len(all) == 0 && m.known():
		return []Finding{fine("no control group limits the memory of this job, in which a cache in memory counts")}
	case len(all) == 0:
		return nil
	}
	least := slices.MinFunc(all, func(a, b group) int { return cmp.Compare(a.limit, b.limit) })
	fullest := slices.MinFunc(all, func(a, b group) int { return cmp.Compare(a.limit-a.used, b.limit-b.used) })
	const do = "give the job that makes the cache more memory (sbatch --mem), use fewer or smaller generations, or a directory on a disk"
	const why = "pages of a cache in memory count for the job that writes them first, which is killed beyond its limit"
	switch now, total := f.now(), f.total(); {
	case f.sample == 0:
		return []Finding{fine("this job may use %s of memory, and a cache in memory counts (%s)", Size(least.limit), least.name)}
	case now > least.limit:
		return []Finding{problem(do, "this job may use %s of memory (%s), the cache takes %s: %s", Size(least.limit), least.name, Size(now), why)}
	case total > least.limit:
		return []Finding{warning(do, "this job may use %s of memory (%s), the cache takes %s at most: %s", Size(least.limit), least.name, Size(total), why)}
	case now+f.later() > fullest.limit-fullest.used:
		return []Finding{warning(do, "this job may use %s of memory and uses %s already (%s), the cache takes %s besides: %s",
			Size(fullest.limit), Size(fullest.used), fullest.name, Size(now+f.later()), why)}
	}
	return []Finding{fine("this job may use %s of memory (%s), which is more than the cache takes, %s at most", Size(least.limit), least.name, Size(f.total()))}
}
