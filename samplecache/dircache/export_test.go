package dircache

import (
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache"
)

// KillAt has this process killed as it passes a moment for the nth time; "" is any moment. Call it
// before sessions are open, as the other functions that say what happens at moments.
func KillAt(moment string, nth int) {
	DoAt(moment, nth, func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil && p.Kill() == nil {
			select {}
		}
	})
}

// DoAt calls do as this process passes a moment for the nth time; "" is any moment.
func DoAt(moment string, nth int, do func()) {
	var passed atomic.Int64
	passing = func(m string) {
		if (moment == "" || m == moment) && passed.Add(1) == int64(nth) {
			do()
		}
	}
}

// Moments calls fn with each moment that this process passes, from many goroutines.
func Moments(fn func(moment string)) { passing = fn }

// Vanish does to a session what the death of its process does: its bell is closed, and its locks.
// Nothing must be done with it any more.
func Vanish(of samplecache.Session) error {
	s := of.(*session)
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.held {
		if err := h.lock.Unlock(); err != nil {
			return err
		}
	}
	return s.bell.Close()
}

// Reboot gives the control file of a cache the id of another running kernel.
func Reboot(dir string) error {
	path := filepath.Join(dir, controlName)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	head := make([]byte, headerSum+4)
	if _, err := f.ReadAt(head, 0); err != nil {
		return err
	}
	clear(head[96:160])
	copy(head[96:160], "another boot")
	binary.LittleEndian.PutUint32(head[headerSum:], crc32.Checksum(head[:headerSum], castagnoli))
	_, err = f.WriteAt(head, 0)
	return err
}
