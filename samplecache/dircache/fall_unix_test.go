//go:build unix

package dircache_test

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

// A fall is how a process is killed, or stopped for a while: as it passes a crash point for the nth
// time.
type fall struct {
	how   string // "kill" or "stop"
	point string // "" is any
	nth   int
}

// falling is set while crash points count.
var falling atomic.Bool

// falls has this process fall. The crash point, which pass of it, and how, are arguments from at
// on.
func falls(t *testing.T, k *processkit.Task, at int) {
	t.Helper()
	f := fall{k.Args[at+2], k.Args[at], k.Number(t, at+1)}
	falling.Store(true)
	var passed atomic.Int64
	dircache.CrashPoints(func(point string) {
		if !falling.Load() || f.point != "" && f.point != point || passed.Add(1) != int64(f.nth) {
			return
		}
		if f.how == "stop" {
			k.Tell("stops")
			stopMyself()
			return
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})
}

// stopMyself stops this process. The signal may reach another thread first, and this one later.
func stopMyself() {
	goneOn.Store(true)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	time.Sleep(200 * time.Millisecond)
}
