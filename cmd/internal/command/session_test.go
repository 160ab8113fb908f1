package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress draws a bar on a terminal only, after a second only, and removes it.
func TestProgress(t *testing.T) {
	var stderr bytes.Buffer
	s := newSession(t.Context(), new(bytes.Buffer), &stderr)
	s.name, s.start = "convert", time.Now().Add(-2*time.Second)
	s.progress(10, 100)
	require.Empty(t, stderr.String(), "not a terminal")

	s.wantBars, s.start = true, time.Now()
	s.progress(20, 100)
	require.Empty(t, stderr.String(), "the first second")

	s.start = time.Now().Add(-2 * time.Second)
	s.progress(20, 0)
	require.Empty(t, stderr.String(), "nobody knows of how much")
	s.progress(30, 100)
	require.Contains(t, stderr.String(), "convert")
	require.Contains(t, stderr.String(), "30%")
	require.NotContains(t, stderr.String(), "\x1b[3", "colours")
	s.endBar()
	drawn := stderr.String()
	require.Empty(t, strings.TrimSpace(drawn[strings.LastIndex(strings.TrimRight(drawn, "\r"), "\r")+1:]), "the line is empty")
	s.progress(40, 100)
	require.Equal(t, drawn, stderr.String(), "not after its end")
}
