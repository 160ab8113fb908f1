package vfs

import "golang.org/x/sys/unix"

// The commands of locks that belong to the open file.
const ofdSet, ofdGet = unix.F_OFD_SETLK, unix.F_OFD_GETLK
