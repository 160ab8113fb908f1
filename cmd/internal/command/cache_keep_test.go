package command

import (
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/memcache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestVerifyLapsed has a generation that may not be read any more: it is not said to be sound.
func TestVerifyLapsed(t *testing.T) {
	schema := tdict.New()
	require.NoError(t, schema.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8))))
	e, err := memcache.New(schema, samplecache.Config{Samples: 1, Retain: -1, MaxHold: time.Millisecond})
	require.NoError(t, err)
	c, err := samplecache.Open(t.Context(), e, samplecache.Options{Verify: samplecache.Always})
	require.NoError(t, err)
	defer c.Close()
	p, err := c.Producer("")
	require.NoError(t, err)
	put := func() {
		slot, err := p.Reserve(t.Context())
		require.NoError(t, err)
		require.NoError(t, slot.Commit(t.Context()))
	}
	put()
	g, err := c.At(t.Context(), 1)
	require.NoError(t, err)
	defer g.Close()
	s := newSession(t.Context(), io.Discard, io.Discard)
	wrong, err := verifyRows(s, g)
	require.NoError(t, err)
	require.Zero(t, wrong)
	put()
	require.Eventually(t, func() bool {
		_, err = verifyRows(s, g)
		return err != nil
	}, time.Minute, time.Millisecond)
	require.ErrorIs(t, err, samplecache.ErrGenerationGone)
}
