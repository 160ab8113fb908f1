//go:build unix

package natscache_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/longtests"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
	"github.com/go-tensordict/tensordict/tdict"
)

// mirror is a Mirror, again and again if another one fills the directory.
func (w *work) mirror() error {
	for {
		err := natscache.Mirror(context.Background(), natscache.Engine{URL: w.URL, Name: w.Place}, w.job.Mirror)
		if !errors.Is(err, samplecache.ErrProducerBusy) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// whole reads a generation whole, and compares it with the samples that were put.
func whole(g *samplecache.Generation, size int) (sums string, err error) {
	for row := range g.Len() {
		about, err := g.Info(row)
		if err != nil {
			return "", err
		}
		td, err := g.Fetch(context.Background(), []int{row}, nil)
		if err != nil {
			return "", fmt.Errorf("row %d: %w", row, err)
		}
		got, err := tdict.Slice[uint8](td, "body")
		if err != nil {
			return "", err
		}
		want, err := tdict.Slice[uint8](marked(about.Producer, about.Number, size), "body")
		if err != nil {
			return "", err
		}
		if !bytes.Equal(got, want) {
			return "", fmt.Errorf("row %d of generation %d is not sample %d of %q", row, g.ID(), about.Number, about.Producer)
		}
		sums += fmt.Sprint(" ", about.Producer, about.Number)
	}
	return sums, nil
}

// see reads the latest generations through a mirror, holds some of them for a while, and reads them
// again.
func (w *work) see() error {
	var held []*samplecache.Generation
	first := map[uint64]string{}
	slow := time.Duration(0)
	mapped, all := 0, 0
	after := uint64(0)
	for n := 0; ; n++ {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		g, err := w.c.Wait(ctx, after)
		cancel()
		if err != nil {
			return fmt.Errorf("wait for a generation after %d: %w", after, err)
		}
		slow = max(slow, time.Since(began))
		after = g.ID()
		if _, err := g.Slice(0, 1); err == nil {
			mapped++
		}
		all++
		sums, err := whole(g, w.Size)
		if err != nil {
			return fmt.Errorf("generation %d: %w", g.ID(), err)
		}
		first[g.ID()] = sums
		held = append(held, g)
		for len(held) > rand.N(3) {
			g, held = held[0], held[1:]
			sums, err := whole(g, w.Size)
			if err != nil || sums != first[g.ID()] {
				return fmt.Errorf("generation %d, held: %q and %q: %w", g.ID(), first[g.ID()], sums, err)
			}
			if err := g.Close(); err != nil {
				return fmt.Errorf("close generation %d: %w", g.ID(), err)
			}
		}
		fmt.Println("put", all, mapped)
		fmt.Println("gen", after, first[after])
	}
}

// TestMirrorChaos kills, stops and removes mirrors and kills readers at random. Readers read each
// generation twice, hold some, and see the same samples.
func TestMirrorChaos(t *testing.T) {
	t.Parallel()
	const size = 3000
	took := 3 * time.Second
	if longtests.On() {
		took = 40 * time.Second
	}
	s := newServer(t)
	config := natscache.Config{Lease: lease}
	config.Samples, config.MaxHeld = 40, 8
	require.NoError(t, natscache.Create(soon(t), s.url(), "chaos", marked("", 0, size), config))
	dir := filepath.Join(t.TempDir(), "mirror")
	j := func(role, name, mirror string) job {
		return job{Role: role, URL: s.url(), Place: "chaos", Name: name, Size: size, Mirror: mirror}
	}
	start(t, j("put", "one", ""))
	start(t, j("put", "two", ""))
	var readers []*worker
	for i := range 3 {
		readers = append(readers, start(t, j("see", fmt.Sprint("reader", i), dir)))
	}
	mirrors := []*worker{start(t, j("mirror", "", dir)), start(t, j("mirror", "", dir))}
	counts := map[string]int{}
	for end := time.Now().Add(took); time.Now().Before(end); {
		time.Sleep(rand.N(500 * time.Millisecond))
		i := rand.N(2)
		switch rand.N(6) {
		case 0, 1:
			counts["killed"]++
			mirrors[i].kill()
			mirrors[i] = start(t, j("mirror", "", dir))
		case 2:
			counts["stopped"]++
			mirrors[i].stop()
			time.Sleep(rand.N(1500 * time.Millisecond))
			mirrors[i].resume()
		case 3:
			counts["removed"]++
			away := fmt.Sprint(dir, ".", counts["removed"])
			if os.Rename(dir, away) == nil { // it may not be there again
				_ = os.RemoveAll(away) // who has it open may make files in it
			}
		case 4:
			counts["reader stopped"]++
			readers[i].stop()
			time.Sleep(rand.N(500 * time.Millisecond))
			readers[i].resume()
		case 5:
			counts["reader killed"]++
			readers[i].kill()
			readers[i] = start(t, j("see", fmt.Sprint("reader", i), dir))
		}
		for i := range mirrors {
			if why, over := mirrors[i].said("end"); over {
				t.Error("mirror ended", why)
				mirrors[i].kill()
				mirrors[i] = start(t, j("mirror", "", dir))
			}
		}
		for i, r := range readers {
			if why, over := r.said("end"); over {
				t.Error("reader ended", why)
				r.kill()
				readers[i] = start(t, j("see", fmt.Sprint("reader", i), dir))
			}
		}
	}
	gens := map[string]string{}
	for _, r := range readers {
		r.advances(patience, 1)
		r.kill()
		for _, line := range r.lines {
			var id string
			if n, _ := fmt.Sscanf(line, "gen %s", &id); n == 1 {
				if was, ok := gens[id]; ok && was != line {
					t.Errorf("%q and %q", was, line)
				}
				gens[id] = line
			}
		}
		t.Log("seen", r.acknowledged()-1, "mapped", r.slow().Milliseconds())
	}
	t.Log(len(gens), "generations")
	for what, n := range counts {
		t.Log(n, what)
	}
}
