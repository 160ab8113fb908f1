// Package programs runs programs whose standard output this process reads. Each is a process group.
// It is killed when this process ends, however that ends: on Linux by a signal of the kernel, and on
// all systems because nobody reads its output any more.
package programs
