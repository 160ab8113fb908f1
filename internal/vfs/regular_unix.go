//go:build unix

package vfs

import "golang.org/x/sys/unix"

// noFollow has a file opened neither through a link nor, if it is a FIFO, by waiting for another.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK
