package shelf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// perGeneration is more than the rows of a generation, which are numbered from a multiple of it.
const perGeneration = 1_000_000

// A pageModel knows which generation of a dataset each name has shown.
type pageModel struct {
	set      *Set
	closes   bool // between two looks the dataset may be closed; once finished, it has another name
	mu       sync.Mutex
	showed   map[string]int64 // generation by name
	nameOf   map[int64]string
	lastSeen string
}

// look looks at the version with a name, and returns its generation and rows. It returns an error
// if a name shows another generation than before, or a generation has another name.
func (m *pageModel) look(id string) (gen int64, rows int, err error) {
	v, err := m.set.Acquire(context.Background(), id)
	if err != nil {
		return 0, 0, err
	}
	defer v.Release()
	numbers, err := tdict.Slice[int64](v.Dict, "a/n")
	if err != nil || len(numbers) == 0 {
		return 0, 0, err
	}
	gen = numbers[0] / perGeneration
	for i, n := range numbers {
		if n != gen*perGeneration+int64(i) {
			return 0, 0, fmt.Errorf("row %d of generation %d is %d", i, gen, n)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if was, ok := m.showed[v.ID]; ok && was != gen {
		err = fmt.Errorf("%s showed generation %d, and shows %d", v.ID, was, gen)
	}
	if was, ok := m.nameOf[gen]; ok && was != v.ID && !m.closes {
		err = fmt.Errorf("generation %d had the name %s, and has %s", gen, was, v.ID)
	}
	m.showed[v.ID], m.nameOf[gen], m.lastSeen = gen, v.ID, v.ID
	return gen, len(numbers), err
}

// follow looks until stop, sometimes by a name that it saw.
func (m *pageModel) follow(t *testing.T, rng *rand.Rand, stop *atomic.Bool) {
	for !stop.Load() {
		id := ""
		if rng.IntN(3) == 0 {
			m.mu.Lock()
			id = m.lastSeen
			m.mu.Unlock()
		}
		_, _, err := m.look(id)
		if err != nil && !errors.Is(err, ErrReplaced) && !errors.Is(err, memmap.ErrReplaced) && !errors.Is(err, memmap.ErrClosed) {
			t.Errorf("look at %q: %v", id, err)
			return
		}
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Microsecond)
	}
}

// A changing dataset is changed by a Writer, or replaced.
type changing struct {
	*rand.Rand
	dir         string
	w           *memmap.Writer // nil if no Writer is open
	gen         int64
	rows, saved int
}

func (c *changing) next(t *testing.T, n int) *tdict.TensorDict {
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = c.gen*perGeneration + int64(c.rows+i)
	}
	c.rows += n
	return nested(t, numbers...)
}

// replace saves the next generation, often with as many rows as the last one has, or a few more.
func (c *changing) replace(t *testing.T) {
	n := 1 + c.IntN(5)
	if c.IntN(2) == 0 {
		n = c.saved + c.IntN(3)
	}
	c.gen, c.rows = c.gen+1, 0
	td := c.next(t, max(n, 1))
	require.NoError(t, memmap.SaveWith(t.Context(), c.dir, td, memmap.SaveOptions{NoSync: true}))
	c.saved = c.rows
}

// close ends the Writer, if there is one, with or without Finish.
func (c *changing) close(t *testing.T, finish bool) {
	if c.w == nil {
		return
	}
	if finish {
		require.NoError(t, c.w.Append(c.next(t, c.IntN(2))))
		require.NoError(t, c.w.Finish())
		c.saved = c.rows
	} else {
		require.NoError(t, c.w.Close())
	}
	c.w = nil
}

// step makes one change.
func (c *changing) step(t *testing.T) {
	what := c.IntN(7)
	if what < 4 && c.w == nil {
		row := tensor.Must(nested(t, 0).Index(ix.At(0)))
		w, err := memmap.NewWriter(c.dir, row, memmap.WriterOptions{Resume: true, NoSync: true})
		require.NoError(t, err)
		c.w, c.rows = w, c.saved
	}
	switch what {
	case 0, 1, 2:
		require.NoError(t, c.w.Append(c.next(t, c.IntN(4))))
		require.NoError(t, c.w.Commit())
		c.saved = c.rows
	case 4, 5:
		c.close(t, what == 4)
	case 6:
		c.close(t, c.IntN(2) == 0)
		c.replace(t)
	}
}

// TestNamesAgainstAModel changes a dataset at random moments while pages follow it. A name shows
// one generation only, a generation that a Writer continues keeps its name, and the last state is
// shown in the end. It takes seconds, most of which are the pauses between changes.
func TestNamesAgainstAModel(t *testing.T) {
	for name, idle := range map[string]time.Duration{"open": time.Hour, "sometimes closed": 3 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			rng := processkit.Random(t)
			for range longtests.Times(4, 400) {
				namesRound(t, rng, idle)
			}
		})
	}
}

func namesRound(t *testing.T, rng *rand.Rand, idle time.Duration) {
	// In /tmp a new file may get the number of a removed one.
	disk, err := os.MkdirTemp("/tmp", "shelf")
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(disk)) }()
	c := &changing{Rand: rng, dir: filepath.Join(disk, "d")}
	c.replace(t)
	s := New([]Source{{Name: "d", Path: c.dir}}, Options{Idle: idle, Interval: time.Duration(2+rng.IntN(8)) * time.Millisecond})
	m := &pageModel{set: s.Set("d"), closes: idle < time.Second, showed: map[string]int64{}, nameOf: map[int64]string{}}
	var stop atomic.Bool
	var pages sync.WaitGroup
	defer func() {
		stop.Store(true)
		pages.Wait()
		require.NoError(t, s.Close())
	}()
	for range 2 {
		own := rand.New(rand.NewPCG(rng.Uint64(), 0))
		pages.Go(func() { m.follow(t, own, &stop) })
	}
	for range 40 {
		c.step(t)
		if rng.IntN(3) == 0 {
			time.Sleep(time.Duration(rng.IntN(8000)) * time.Microsecond)
		}
	}
	c.close(t, rng.IntN(2) == 0)
	require.Eventually(t, func() bool {
		gen, rows, err := m.look("")
		return err == nil && gen == c.gen && rows == c.saved
	}, time.Minute, time.Millisecond)
}
