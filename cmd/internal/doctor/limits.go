package doctor

// limits compares the limits of this process with the needs of a process that uses the cache.
func (m machine) limits(f facts) (list []Finding) {
	samples := int64(f.config.Samples)
	if n, ok := m.limit("Max file size"); ok && (f.sample == 0 || n < samples*max(f.largest, 104+4*f.leaves)) {
		list = append(list, problem("raise it: ulimit -f unlimited", "files may have %s at most, and a leaf of a generation is a file", Size(n)))
	}
	if n, ok := m.limit("Max address space"); ok && (f.sample == 0 || n-runtimeSpace < f.total()) {
		list = append(list, problem("raise it: ulimit -v unlimited", "processes may map %s at most, and map the whole cache", Size(n)))
	}
	if n, ok := m.limit("Max open files"); ok && n < f.descriptors(n) {
		list = append(list, warning("raise it: ulimit -n 1024", "processes may have %d open files, one that uses the cache needs %d", n, f.descriptors(n)))
	}
	if n, ok := m.number("proc/sys/vm/max_map_count"); ok && n/2 < f.mappings() {
		list = append(list, problem("raise it: sysctl -w vm.max_map_count=262144, or use fewer leaves", "processes may have %d mappings, and the cache, which uses half of them at most, needs %d", n, f.mappings()))
	}
	if len(list) == 0 && m.known() {
		list = append(list, fine("limits of files, address space, open files and mappings suffice"))
	}
	return list
}

// runtimeSpace is the address space that a Go program takes besides.
const runtimeSpace = 1 << 30

// descriptors returns how many open files a process needs. Mappings keep a tenth of the limit at
// most.
func (f facts) descriptors(limit int64) int64 {
	return 32 + 3*f.most() + min(limit/10, 1000, f.mappings())
}

// mappings returns how many mappings a process needs that puts and reads: the leaves and records of
// all generations, for writing and for reading.
func (f facts) mappings() int64 { return 2 * f.most() * (f.leaves + 1) }
