// Package programs runs programs whose standard output this process reads. Each is a process group.
// A program is killed when this process ends, however that ends: on Linux by a signal of the
// kernel. Its children, and programs on other systems, end when they write, since nobody reads
// their output any more.
package programs
