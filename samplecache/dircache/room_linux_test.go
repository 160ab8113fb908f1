package dircache_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
)

// mappings returns how many files below dir are mapped, and how many of these were removed.
func mappings(t *testing.T, dir string) (all, removed int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, dir) {
			all++
			if strings.Contains(line, "(deleted)") {
				removed++
			}
		}
	}
	return all, removed
}

// foundRead puts and reads some generations of one sample.
func foundRead(t *testing.T, c, reader *samplecache.Cache, n int) {
	t.Helper()
	for range n {
		foundPut(t, c, "", 1)
		g, err := reader.Latest(t.Context())
		require.NoError(t, err)
		_, err = g.Fetch(t.Context(), []int{0}, nil)
		require.NoError(t, err)
		require.NoError(t, g.Close())
	}
}

// TestRoomOfHeldGenerations has a reader hold generations until more stores are made, and let them
// go: once it has read as many generations as there are stores, it keeps no file that was removed.
func TestRoomOfHeldGenerations(t *testing.T) {
	for _, hold := range []int{1, 3} {
		dir := foundMake(t, samplecache.Config{Samples: 1, MaxHeld: 3})
		c, reader := foundOpen(t, dir), foundOpen(t, dir)
		for round := range 3 {
			var held []*samplecache.Generation
			for range hold {
				foundPut(t, c, "", 1)
				g, err := reader.Latest(t.Context())
				require.NoError(t, err)
				held = append(held, g)
			}
			foundRead(t, c, reader, 6) // all stores are mapped
			for _, g := range held {
				require.NoError(t, g.Close())
			}
			foundRead(t, c, reader, 6)
			all, removed := mappings(t, dir)
			require.Zero(t, removed, "%d held, round %d: of %d", hold, round, all)
		}
	}
}

// TestMappingsOfManyGenerations reads each of many generations: no mapping is left over.
func TestMappingsOfManyGenerations(t *testing.T) {
	dir := foundMake(t, samplecache.Config{Samples: 1})
	c, reader := foundOpen(t, dir), foundOpen(t, dir)
	n := 1000
	if *flipsFlag == "full" {
		n = 10_000
	}
	foundRead(t, c, reader, 50)
	before, _ := mappings(t, dir)
	foundRead(t, c, reader, n)
	after, removed := mappings(t, dir)
	require.Zero(t, removed)
	require.Equal(t, before, after)
}
