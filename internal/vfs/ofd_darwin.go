package vfs

// The commands of locks that belong to the open file: F_OFD_SETLK and F_OFD_GETLK of macOS 10.11
// and later, in bsd/sys/fcntl.h of XNU. golang.org/x/sys does not have them.
const ofdSet, ofdGet = 90, 92
