//go:build unix

package dircache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// errDisk is that of a disk that fails.
var errDisk = errors.New("the disk fails")

// failFlush has flushes fail until the test ends: the first of records, and all of them after, or
// those of samples. It calls then before.
func failFlush(t *testing.T, records bool, then func()) (mended func()) {
	t.Helper()
	was := flushRange
	mended = func() { flushRange = was }
	t.Cleanup(mended)
	flushRange = func(f flusher, offset, size int) error {
		if _, is := f.(*mapping.Mapping); is != records {
			return was(f, offset, size)
		}
		if then != nil {
			then()
			then = nil
		}
		return errDisk
	}
	return mended
}

// TestDurableCommitFails has the sync of a Commit fail, of the sample or of its record: nothing of
// it is there, neither at once nor after all have left, nor after the machine was started anew;
// also if the disk has got the record, and not heard of its erasure. Its number is put again, and
// is there once.
func TestDurableCommitFails(t *testing.T) {
	for _, records := range []bool{false, true} {
		for _, after := range []string{"Abort", "Close", "a new start", "a new start with the record"} {
			if !records && after == "a new start with the record" {
				continue
			}
			t.Run(fmt.Sprintf("record %v/%s", records, after), func(t *testing.T) {
				dir := newDir(t)
				require.NoError(t, Create(dir, one(0), samplecache.Config{Samples: 3, Durable: true}))
				c := openHere(t, Engine{Dir: dir})
				p, err := c.Producer("p")
				require.NoError(t, err)
				require.NoError(t, p.Put(soon(t), one(0)))
				slot, err := p.Reserve(soon(t))
				require.NoError(t, err)
				require.NoError(t, slot.Sample().SetIndex(one(1)))
				path := filepath.Join(dir, "gen-0000000001", recordsName)
				var onDisk []byte
				mended := failFlush(t, records, func() { onDisk, err = os.ReadFile(path) })
				require.ErrorIs(t, slot.Commit(soon(t)), errDisk)
				require.NoError(t, err)
				require.ErrorIs(t, slot.Commit(soon(t)), errDisk, "again")
				mended()
				switch after {
				case "Abort":
					require.NoError(t, slot.Abort())
					require.NoError(t, p.Close())
				case "a new start with the record":
					// Another has the slot meanwhile, so that the number gets another one.
					q, err := c.Producer("q")
					require.NoError(t, err)
					other, err := q.Reserve(soon(t))
					require.NoError(t, err)
					require.NoError(t, slot.Abort())
					same, err := q.Reserve(soon(t))
					require.NoError(t, err)
					require.NoError(t, other.Abort())
					require.NoError(t, p.PutAt(soon(t), 1, one(1)))
					require.NoError(t, same.Abort())
					fallthrough
				default:
					require.NoError(t, c.Close())
					if after == "a new start with the record" {
						restoreRecords(t, path, onDisk)
					}
					if after != "Close" {
						require.NoError(t, Reboot(dir))
					}
					c = openHere(t, Engine{Dir: dir})
				}
				st, err := c.Stats()
				require.NoError(t, err)
				want := 1
				if after == "a new start with the record" {
					want = 2
				}
				require.Equal(t, want, st.Committed)
				p, err = c.Producer("p")
				require.NoError(t, err)
				require.EqualValues(t, want, p.Next())
				for n := want; n < 3; n++ {
					require.NoError(t, p.Put(soon(t), one(int64(n))))
				}
				g, err := c.Wait(soon(t), 0)
				require.NoError(t, err)
				td, err := g.Fetch(soon(t), []int{0, 1, 2}, nil)
				require.NoError(t, err)
				require.ElementsMatch(t, []int64{0, 1, 2}, tensor.Must(tdict.Slice[int64](td, "n")))
			})
		}
	}
}

// restoreRecords writes records that are not there any more, as a disk has them that has not heard
// of their erasure.
func restoreRecords(t *testing.T, path string, were []byte) {
	t.Helper()
	are, err := os.ReadFile(path)
	require.NoError(t, err)
	restored := 0
	for i := range 3 {
		if was, is := rowRecord(were, i, 1), rowRecord(are, i, 1); was.sound(1) && !is.sound(1) {
			copy(is, was)
			restored++
		}
	}
	require.Equal(t, 1, restored)
	require.NoError(t, os.WriteFile(path, are, 0o666))
}
