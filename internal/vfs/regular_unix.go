//go:build unix

package vfs

import "golang.org/x/sys/unix"

// noFollow are flags that prevent opening through a link and waiting for a FIFO.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK
