package feed

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/loader"
)

// versions is a source that changes at each snapshot, and counts the snapshots in use.
type versions struct {
	loader.Source
	made, inUse int
}

// Snapshot implements loader.Snapshotter.
func (v *versions) Snapshot() (loader.Snapshot, error) {
	v.made++
	v.inUse++
	return loader.Snapshot{Source: v, Version: strconv.Itoa(v.made), Release: func() error { v.inUse--; return nil }}, nil
}

// TestEpochs moves ranks through epochs.
func TestEpochs(t *testing.T) {
	v := &versions{}
	e := &epochs{src: v, at: make([]uint64, 2)}
	first, second := &rankSource{epochs: e, rank: 0}, &rankSource{epochs: e, rank: 1}
	version := func(s *rankSource, epoch uint64) string {
		require.NoError(t, s.begin(epoch))
		now, err := s.Snapshot()
		require.NoError(t, err)
		require.NoError(t, now.Release())
		return now.Version
	}
	require.Equal(t, "1", version(first, 0))
	require.Equal(t, "2", version(first, 1))
	require.Equal(t, "1", version(first, 0), "back in an epoch that the other has not passed")
	require.Equal(t, "3", version(first, 1), "no rank was in that epoch any more")
	require.Equal(t, "1", version(second, 0), "all ranks have the same")
	require.Equal(t, 2, v.inUse)
	require.Equal(t, "3", version(second, 1))
	require.Equal(t, 1, v.inUse, "both have passed epoch 0")
	require.Equal(t, "4", version(second, 0), "an epoch that is repeated later")
	require.NoError(t, e.close())
	require.Zero(t, v.inUse)
}

// TestEpochsAreBounded lets one rank be behind for many epochs.
func TestEpochsAreBounded(t *testing.T) {
	v := &versions{}
	e := &epochs{src: v, at: make([]uint64, 2)}
	s := &rankSource{epochs: e, rank: 1}
	for epoch := range uint64(50) {
		require.NoError(t, s.begin(epoch))
		require.LessOrEqual(t, v.inUse, maxKept)
		now, err := s.Snapshot()
		require.NoError(t, err)
		require.Equal(t, strconv.Itoa(int(epoch)+1), now.Version)
		require.NoError(t, now.Release())
	}
	require.Equal(t, maxKept, v.inUse)
	require.NoError(t, e.close())
	require.Zero(t, v.inUse)
}

// TestEpochsInUse keeps a snapshot that a loop uses, when all ranks have passed it.
func TestEpochsInUse(t *testing.T) {
	v := &versions{}
	s := &rankSource{epochs: &epochs{src: v, at: make([]uint64, 1)}}
	require.NoError(t, s.begin(0))
	now, err := s.Snapshot()
	require.NoError(t, err)
	require.NoError(t, s.begin(1))
	require.Equal(t, 2, v.inUse)
	require.NoError(t, now.Release())
	require.Equal(t, 1, v.inUse)
}

// failing is a source whose snapshots fail.
type failing struct{ loader.Source }

var errSnapshot = errors.New("no snapshot")

// Snapshot implements loader.Snapshotter.
func (failing) Snapshot() (loader.Snapshot, error) { return loader.Snapshot{}, errSnapshot }

// TestEpochsFail has no snapshot.
func TestEpochsFail(t *testing.T) {
	s := &rankSource{epochs: &epochs{src: failing{}, at: make([]uint64, 1)}}
	require.ErrorIs(t, s.begin(3), errSnapshot)
	_, err := s.Snapshot()
	require.ErrorIs(t, err, errSnapshot)
	require.Empty(t, s.kept)
}

// TestEpochsAgree moves ranks to random epochs, none more than 15 behind another: next, back, or
// resumed anywhere. All ranks in an epoch get the version of those that are in it.
func TestEpochsAgree(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 0))
		v := &versions{}
		e := &epochs{src: v, at: make([]uint64, 2+r.IntN(3))}
		version := map[int]string{} // of the ranks that have come
		for range 400 {
			rank := r.IntN(len(e.at))
			at := slices.Clone(e.at)
			switch r.IntN(12) {
			case 0:
				at[rank] = slices.Max(at) - min(slices.Max(at), uint64(r.IntN(maxKept)))
			case 1:
				at[rank] += uint64(r.IntN(2 * maxKept))
			case 2: // it continues where it is
			default:
				at[rank]++
			}
			if slices.Max(at)-slices.Min(at) >= maxKept {
				continue
			}
			s := &rankSource{epochs: e, rank: rank}
			require.NoError(t, s.begin(at[rank]))
			now, err := s.Snapshot()
			require.NoError(t, err)
			require.NoError(t, now.Release())
			for other, had := range version {
				if other != rank && e.at[other] == at[rank] {
					require.Equal(t, had, now.Version, "seed %d: ranks %d and %d in epoch %d", seed, other, rank, at[rank])
				}
			}
			version[rank] = now.Version
			require.LessOrEqual(t, len(e.kept), maxKept)
		}
		require.NoError(t, e.close())
		require.Zero(t, v.inUse)
	}
}

// TestEpochsKeepTheLast: a rank that passes many epochs at once makes room for its new one; the
// snapshot of the others' epoch stays, though it is the oldest.
func TestEpochsKeepTheLast(t *testing.T) {
	v := &versions{}
	e := &epochs{src: v, at: make([]uint64, 3)}
	begin := func(rank int, epoch uint64) { require.NoError(t, e.enter(rank, epoch)) }
	begin(0, 15)
	begin(1, 1)
	begin(2, 1)
	for epoch := range uint64(16) {
		begin(1, max(1, epoch))
	}
	begin(0, 16)
	had, err := e.find(15)
	require.NoError(t, err)
	begin(2, 17)
	now, err := e.find(15)
	require.NoError(t, err)
	require.Same(t, had, now)
}
