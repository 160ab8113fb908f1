package vfstest

import (
	"fmt"
	"slices"
)

// A CrashMode says which unsynced changes survive a crash.
type CrashMode uint8

const (
	// Synced keeps only synced changes.
	Synced CrashMode = iota
	// Current keeps everything.
	Current
	// NamesFirst keeps all names but only synced bytes, as file systems that write data late.
	NamesFirst
	// RemovalsFirst keeps synced changes, and all removals, synced or not.
	RemovalsFirst
)

// CrashModes returns all modes.
func CrashModes() []CrashMode {
	return []CrashMode{Synced, Current, NamesFirst, RemovalsFirst}
}

// String returns the name of the mode.
func (m CrashMode) String() string {
	names := [...]string{"Synced", "Current", "NamesFirst", "RemovalsFirst"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("CrashMode(%d)", uint8(m))
}

// Crash returns the disk as a crash would leave it now. It shares nothing with d, has no failures,
// and everything on it is synced. d does not change.
func (d *Disk) Crash(mode CrashMode) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{NoExchange: d.NoExchange, root: *crash{mode, make(map[*node]*node)}.after(&d.root, nil)}
}

// A crash copies the files that its mode keeps.
type crash struct {
	mode  CrashMode
	files map[*node]*node // copies of files: one for all names of a file
}

// after returns the state of n after the crash. above are the directories on the way to n: if only
// some of several moves are durable, a directory may contain itself; after ends there.
func (c crash) after(n *node, above []*node) *node {
	if n.isFile {
		return c.file(n)
	}
	left := new(node)
	above = append(above, n)
	for name, l := range n.kept(c.mode) {
		lost := c.mode == RemovalsFirst && l.removed
		if !lost && !slices.Contains(above, l.node) {
			left.put(name, &link{node: c.after(l.node, above)})
		}
	}
	left.sync()
	return left
}

// file returns the state of the file n after the crash.
func (c crash) file(n *node) *node {
	left, ok := c.files[n]
	if !ok {
		left = &node{isFile: true, data: n.bytes(c.mode)}
		left.sync()
		c.files[n] = left
	}
	return left
}

// bytes returns a copy of the bytes of a file that mode keeps.
func (n *node) bytes(mode CrashMode) []byte {
	if mode == Current {
		return slices.Clone(n.data)
	}
	return slices.Clone(n.synced)
}

// kept returns the names of a directory that mode keeps.
func (n *node) kept(mode CrashMode) map[string]*link {
	if mode == Current || mode == NamesFirst {
		return n.names
	}
	return n.durable
}
