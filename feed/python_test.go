package feed_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/feed"
	"github.com/go-tensordict/tensordict/internal/test/testkit/processkit"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestPythonConsumes has the Python package read two epochs, connecting anew after three batches
// each time, and more until the feed is closed. Python takes some seconds to start.
func TestPythonConsumes(t *testing.T) {
	src, opt := rows(t, 50), shuffled(4)
	s := serve(t, src, feed.Options{Loader: opt})
	pkg := tensor.Must(filepath.Abs("../python/src"))
	p := processkit.Run(t, processkit.PythonCommand(t, "testdata/consume.py", pkg, s.path, "3"))
	for _, g := range want(t, src, opt, nil, 2) {
		var row []json.RawMessage
		line := p.Line(t)
		require.NoError(t, json.Unmarshal([]byte(line), &row), "%s", line)
		text, err := json.Marshal([]any{g.epoch, g.batch, g.rows})
		require.NoError(t, err)
		require.JSONEq(t, string(text), line)
	}
	p.Until(t, "going")
	require.NoError(t, s.Close())
	line := p.Line(t)
	for line == "going" {
		line = p.Line(t)
	}
	require.True(t, strings.HasPrefix(line, "failed: "), line)
	require.NoError(t, p.Ended(), "%s", p.Tail())
}
