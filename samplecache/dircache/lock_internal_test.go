package dircache

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestLockerIsTheHolder has sessions with different pids take the lock in turn, and one that has
// not entered yet: the pid that others are told is always that of the present holder, not of the
// last.
func TestLockerIsTheHolder(t *testing.T) {
	dir := t.TempDir() + "/cache"
	schema := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.NewMeta(tensor.Int64, 1))}))
	if err := Create(dir, schema, engine.Config{Samples: 3}); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err) // the system has no locks of this kind
	} else if err != nil {
		t.Fatal(err)
	}
	var all []*session
	for i := range 4 {
		of, err := Engine{Dir: dir}.Join(t.Context(), engine.Options{})
		require.NoError(t, err)
		s := of.(*session)
		defer s.Close()
		s.words.session(s.me).Store(uint64(1000 + i))
		all = append(all, s)
	}
	asks := all[3]
	for range 3 {
		for i, s := range all[:3] {
			require.Zero(t, asks.locker())
			require.NoError(t, s.lock())
			require.Equal(t, 1000+i, asks.locker())
			require.Zero(t, s.locker(), "it is not another session")
			require.NoError(t, s.unlock())
		}
	}
	all[1].entered = false
	require.NoError(t, all[1].lock())
	want := os.Getpid()
	if 1+maxSessions+want >= lockSpan {
		want = 0 // it has no room
	}
	require.Equal(t, want, asks.locker())
	require.NoError(t, all[1].unlock())
	all[1].entered = true
}

// TestStatsOfADamagedWord has a word that says an older generation than the MANIFEST, and looks
// sound: Stats returns an error rather than wait for the two to agree.
func TestStatsOfADamagedWord(t *testing.T) {
	dir := t.TempDir() + "/cache"
	schema := tensor.Must(tdict.FromMap(nil, tdict.Entries{"n": tensor.Must(tensor.NewMeta(tensor.Int64, 1))}))
	if err := Create(dir, schema, engine.Config{Samples: 1}); errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err) // the system has no locks of this kind
	} else if err != nil {
		t.Fatal(err)
	}
	of, err := Engine{Dir: dir}.Join(t.Context(), engine.Options{})
	require.NoError(t, err)
	defer of.Close()
	s := of.(*session)
	c, err := s.Claim(t.Context(), "")
	require.NoError(t, err)
	for range 3 {
		row, err := c.Reserve(t.Context(), 0)
		require.NoError(t, err)
		require.NoError(t, row.Commit(t.Context(), []uint32{0}))
	}
	s.words.seal(latestWord, 1)
	_, err = s.Stats(t.Context())
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.ErrorContains(t, err, "got generation 1, but the MANIFEST has 3")
	s.words.seal(latestWord, 3)
}
