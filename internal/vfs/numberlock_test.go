package vfs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/vfs"
)

// withNumbers runs test, if the system has locks of numbers.
func withNumbers(t *testing.T, test func(t *testing.T, path string)) {
	t.Helper()
	if !vfs.NumbersSupported {
		t.Skip("the system has no locks of numbers")
	}
	test(t, numbersFile(t))
}

// numbersFile returns a file to lock numbers of.
func numbersFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "control")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o666))
	return path
}

// openNumbers opens the file for the locks.
func openNumbers(t testing.TB, path string) *vfs.Numbers {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	n := vfs.LockNumbers(f)
	t.Cleanup(func() {
		_ = n.UnlockAll()
		require.NoError(t, f.Close())
	})
	return n
}

// try is Try that does not fail.
func try(t testing.TB, n *vfs.Numbers, at, count int64) bool {
	t.Helper()
	ok, err := n.Try(at, count)
	require.NoError(t, err)
	return ok
}

// A lockedRange is what Held returns, and nothing if nothing is held.
type lockedRange struct{ from, size int64 }

func heldIn(t testing.TB, n *vfs.Numbers, at, count int64) (r lockedRange) {
	t.Helper()
	from, size, held, err := n.Held(at, count)
	require.NoError(t, err)
	require.Equal(t, size > 0, held)
	return lockedRange{from, size}
}

const topNumber = 1<<62 - 1

func TestTryNumbers(t *testing.T) {
	tests := []struct {
		name          string
		first, second lockedRange
		ok            bool
	}{
		{"the same number", lockedRange{5, 1}, lockedRange{5, 1}, false},
		{"another number", lockedRange{5, 1}, lockedRange{6, 1}, true},
		{"the number before", lockedRange{5, 1}, lockedRange{4, 1}, true},
		{"the number 0", lockedRange{0, 1}, lockedRange{0, 1}, false},
		{"the last number", lockedRange{topNumber, 1}, lockedRange{topNumber, 1}, false},
		{"a longer range from the same number", lockedRange{5, 1}, lockedRange{5, 9}, false},
		{"a shorter range from the same number", lockedRange{5, 9}, lockedRange{5, 1}, false},
		{"ranges that touch", lockedRange{5, 3}, lockedRange{8, 3}, true},
		{"all numbers", lockedRange{0, topNumber + 1}, lockedRange{0, topNumber + 1}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withNumbers(t, func(t *testing.T, path string) {
				a, b := openNumbers(t, path), openNumbers(t, path)
				require.True(t, try(t, a, tt.first.from, tt.first.size))
				require.Equal(t, tt.first, heldIn(t, b, tt.first.from, 1))
				require.Zero(t, heldIn(t, a, tt.first.from, 1), "locks of one's own do not count")
				require.Equal(t, tt.ok, try(t, b, tt.second.from, tt.second.size))
				require.NoError(t, b.UnlockAll())
				require.Equal(t, tt.first, heldIn(t, b, tt.first.from, 1), "b has unlocked only its own")

				require.NoError(t, a.Unlock(tt.first.from, tt.first.size))
				require.Zero(t, heldIn(t, b, 0, topNumber+1))
				require.True(t, try(t, b, tt.second.from, tt.second.size))
			})
		})
	}
}

func TestNumbersThatAreNone(t *testing.T) {
	tests := []struct{ at, count int64 }{
		{-1, 1}, {-1 << 63, 1}, {5, 0}, {5, -1}, {5, -1 << 63}, {1 << 62, 1}, {topNumber, 2}, {1<<63 - 1, 1<<63 - 1},
	}
	withNumbers(t, func(t *testing.T, path string) {
		n, other := openNumbers(t, path), openNumbers(t, path)
		for _, tt := range tests {
			_, err := n.Try(tt.at, tt.count)
			require.ErrorIs(t, err, fs.ErrInvalid)
			require.ErrorContains(t, err, path)
			require.ErrorIs(t, n.Unlock(tt.at, tt.count), fs.ErrInvalid)
			_, _, _, err = n.Held(tt.at, tt.count)
			require.ErrorIs(t, err, fs.ErrInvalid)
		}
		require.Zero(t, heldIn(t, other, 0, topNumber+1))
		_, err := n.Try(5, 0)
		require.EqualError(t, err, "lock "+path+": invalid argument: got 0 numbers from 5 on, want at least one, from 0 on and below 1<<62")
	})
}

func TestTryNumbersAgain(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		a, b := openNumbers(t, path), openNumbers(t, path)
		require.True(t, try(t, a, 5, 2))
		require.True(t, try(t, a, 5, 4))
		require.Equal(t, lockedRange{5, 4}, heldIn(t, b, 5, 1))
		require.NoError(t, a.Unlock(5, 4))
		require.NoError(t, a.Unlock(5, 4))
		require.True(t, try(t, b, 5, 1), "it was locked once")
	})
}

func TestUnlockNumbers(t *testing.T) {
	tests := []struct {
		name   string
		unlock lockedRange
		left   []lockedRange
	}{
		{"none of them", lockedRange{100, 50}, []lockedRange{{10, 1}, {20, 2}, {30, 3}}},
		{"one", lockedRange{20, 2}, []lockedRange{{10, 1}, {30, 3}}},
		{"some, and numbers between them", lockedRange{5, 20}, []lockedRange{{30, 3}}},
		{"all", lockedRange{0, topNumber + 1}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withNumbers(t, func(t *testing.T, path string) {
				a, b := openNumbers(t, path), openNumbers(t, path)
				for i := range int64(3) {
					require.True(t, try(t, a, 10*(i+1), i+1))
				}
				require.NoError(t, a.Unlock(tt.unlock.from, tt.unlock.size))
				for at, left := int64(0), tt.left; ; left = left[1:] {
					r := heldIn(t, b, at, 1000)
					if len(left) == 0 {
						require.Zero(t, r)
						break
					}
					require.Equal(t, left[0], r)
					at = r.from + r.size
				}
			})
		})
	}
}

func TestUnlockAllNumbers(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		a, b := openNumbers(t, path), openNumbers(t, path)
		require.NoError(t, a.UnlockAll())
		require.True(t, try(t, a, 0, 1))
		require.True(t, try(t, a, topNumber, 1))
		require.True(t, try(t, b, 7, 1))
		require.NoError(t, a.UnlockAll())
		require.Zero(t, heldIn(t, b, 0, topNumber+1))
		require.Equal(t, lockedRange{7, 1}, heldIn(t, a, 0, topNumber+1))
	})
}

// Held returns the lowest lock, whoever has it and in whatever order they were made.
func TestHeldIsTheFirst(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		asking := openNumbers(t, path)
		for i := range int64(8) {
			at := 10 * ((i*3)%8 + 1)
			require.True(t, try(t, openNumbers(t, path), at, 2))
		}
		require.True(t, try(t, asking, 1, 1))
		for i := range int64(8) {
			require.Equal(t, lockedRange{10 * (i + 1), 2}, heldIn(t, asking, 10*i+2, 1000))
		}
		require.Zero(t, heldIn(t, asking, 82, 1000))
		require.Zero(t, heldIn(t, asking, 1, 9))
	})
}

// Two Numbers of one process exclude each other, in any number of goroutines.
func TestOneHasANumber(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		const goroutines, times = 4, 50
		var inside, all atomic.Int32
		done := make(chan error, goroutines)
		for range goroutines {
			n := openNumbers(t, path)
			go func() {
				for got := 0; got < times; {
					ok, err := n.Try(5, 1)
					if err != nil {
						done <- err
						return
					}
					if !ok {
						_, _, _, _ = n.Held(0, 10) // does not keep others from locking
						continue
					}
					if inside.Add(1) != 1 {
						t.Error("two have the number")
					}
					got++
					all.Add(1)
					inside.Add(-1)
					if err := n.Unlock(5, 1); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range goroutines {
			require.NoError(t, <-done)
		}
		require.EqualValues(t, goroutines*times, all.Load())
	})
}

// Closing another descriptor of the file, as readers do, unlocks nothing.
func TestNumbersOutliveOtherDescriptors(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		a, b := openNumbers(t, path), openNumbers(t, path)
		require.True(t, try(t, a, 5, 1))
		_, err := os.ReadFile(path)
		require.NoError(t, err)
		require.False(t, try(t, b, 5, 1))
	})
}

func TestNumbersOfAClosedFile(t *testing.T) {
	if !vfs.NumbersSupported {
		t.Skip("the system has no locks of numbers")
	}
	path := numbersFile(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	n := vfs.LockNumbers(f)
	require.True(t, try(t, n, 5, 1))
	require.NoError(t, n.UnlockAll())
	require.NoError(t, f.Close())
	require.True(t, try(t, openNumbers(t, path), 5, 1))
}

func TestNumbersDieWithTheirProcess(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		n := openNumbers(t, path)
		_, kill := startChild(t, taskNumbers, path)
		require.Equal(t, lockedRange{5, 3}, heldIn(t, n, 0, 100))
		require.False(t, try(t, n, 5, 1))
		kill()
		require.Zero(t, heldIn(t, n, 0, 100))
		require.True(t, try(t, n, 5, 1))
	})
}

// TestUnlockNumbersWhileProcessesStart is TestUnlockWhileProcessesStart of numbers. A process that
// runs does not have the locks either.
func TestUnlockNumbersWhileProcessesStart(t *testing.T) {
	withNumbers(t, func(t *testing.T, path string) {
		exe, err := os.Executable()
		require.NoError(t, err)
		a, b := openNumbers(t, path), openNumbers(t, path)
		stop, stopped := make(chan struct{}), make(chan error)
		go func() { stopped <- startUntil(stop, exe) }()
		for range longtests.Times(200, 1000) {
			require.True(t, try(t, a, 5, 3))
			require.NoError(t, a.Unlock(5, 3))
			require.True(t, try(t, b, 5, 3))
			require.NoError(t, b.UnlockAll())
		}
		close(stop)
		require.NoError(t, <-stopped)
	})
}

// A process that was started while a number was held does not keep it.
func TestStartedProcessesDoNotHoldNumbers(t *testing.T) {
	if !vfs.NumbersSupported {
		t.Skip("the system has no locks of numbers")
	}
	path := numbersFile(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	require.True(t, try(t, vfs.LockNumbers(f), 5, 1))
	other := numbersFile(t)
	_, kill := startChild(t, taskLock, other)
	require.NoError(t, f.Close()) // without an unlock
	require.True(t, try(t, openNumbers(t, path), 5, 1))
	kill()
}

func TestNumbersUnsupported(t *testing.T) {
	if vfs.NumbersSupported {
		t.Skip("the system has locks of numbers")
	}
	n := openNumbers(t, numbersFile(t))
	_, err := n.Try(5, 1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
}
