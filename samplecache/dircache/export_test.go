package dircache

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// KillAt has this process killed as it passes a crash point for the nth time; "" is any crash
// point.
func KillAt(point string, nth int) {
	DoAt(point, nth, func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil && p.Kill() == nil {
			select {}
		}
	})
}

// DoAt calls do as this process passes a crash point for the nth time; "" is any crash point.
func DoAt(point string, nth int, do func()) {
	var passed atomic.Int64
	CrashPoints(func(m string) {
		if (point == "" || m == point) && passed.Add(1) == int64(nth) {
			do()
		}
	})
}

// CrashPoints calls fn with each crash point that this process passes, from many goroutines. It can
// be called at any time; nil ends it.
func CrashPoints(fn func(point string)) { atPoint.Store(&fn) }

var atPoint atomic.Pointer[func(point string)]

func init() {
	crashPoint = func(point string) {
		if fn := atPoint.Load(); fn != nil && *fn != nil {
			(*fn)(point)
		}
	}
}

// Vanish does to a session what the death of its process does: its locks are free, and nothing is
// told. Nothing must be done with it any more.
func Vanish(of engine.Session) error {
	s := of.(*session)
	s.calls.Lock()
	s.closed = true
	s.calls.Unlock()
	s.watch.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for r := range s.open {
		err = errors.Join(err, r.lock.Unlock())
	}
	return errors.Join(err, s.locks.UnlockAll())
}

// Reboot gives the control file of a cache the id of another running kernel.
func Reboot(dir string) error { return Rehost(dir, "another boot", "") }

// Rehost gives the control file of a cache the ids of another running kernel and, unless machine is
// "", of another machine.
func Rehost(dir, boot, machine string) error {
	f, err := os.OpenFile(filepath.Join(dir, controlName), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	head := make([]byte, headerSum+4)
	if _, err = f.ReadAt(head, 0); err == nil {
		clear(head[96+copy(head[96:160], boot) : 160])
		if machine != "" {
			clear(head[160+copy(head[160:224], machine) : 224])
		}
		binary.LittleEndian.PutUint32(head[headerSum:], crc32.ChecksumIEEE(head[:headerSum]))
		_, err = f.WriteAt(head, 0)
	}
	return errors.Join(err, f.Close())
}

// Words returns where the words of each kind lie in the control file, and CountsAt where the two
// counts of groups begin.
func Words() map[string]int64 {
	return map[string]int64{
		"sequence": sequenceWord * 8, "latest": latestWord * 8, "filling": fillingWord * 8,
		"wanted": wantedWord * 8, "swept": sweptWord * 8, "searched": searchedWord * 8,
		"swap took": swapTookWord * 8, "unused": (swapTookWord + 1) * 8, "session": sessionsTable * 8,
		"joined": (sessionsTable + 1) * 8, "last session": (retiredTable - 2) * 8, "retired": (retiredTable + 2) * 8,
		"retired since": (retiredTable + 3) * 8, "last": (wordsCount - 1) * 8,
	}
}

// CountsAt returns where the two counts of groups begin in the control file.
func CountsAt() (first, second int64) {
	return countsAt, countsAt + countsBytes
}
