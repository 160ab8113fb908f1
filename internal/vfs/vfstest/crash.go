package vfstest

import (
	"fmt"
	"slices"
)

// A CrashMode says what a crash leaves of that which was not synced.
type CrashMode uint8

const (
	// Synced leaves only what was synced: the least.
	Synced CrashMode = iota
	// Current leaves everything: the most.
	Current
	// NamesFirst leaves all names but only synced bytes, as file systems do that write data late.
	NamesFirst
	// RemovalsFirst leaves what was synced less what was removed since, synced or not.
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

// Crash returns the disk that a crash would leave now. It shares nothing with d, has no faults, and
// all on it is synced. d itself goes on.
func (d *Disk) Crash(mode CrashMode) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Disk{NoExchange: d.NoExchange, root: *d.root.after(mode, nil)}
}

// after returns what mode leaves of n. Directories on the way to n are above it: moves of which
// only some are durable can make a directory contain itself, which ends here.
func (n *node) after(mode CrashMode, above []*node) *node {
	left := &node{isFile: n.isFile, data: n.bytes(mode)}
	above = append(above, n)
	for name, child := range n.kept(mode) {
		lost := mode == RemovalsFirst && child.removed
		if !lost && !slices.Contains(above, child) {
			left.link(name, child.after(mode, above))
		}
	}
	left.sync()
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
func (n *node) kept(mode CrashMode) map[string]*node {
	if mode == Current || mode == NamesFirst {
		return n.names
	}
	return n.durable
}
