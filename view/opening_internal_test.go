package view

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestOpening has no patience: the page says that the dataset is being opened, ends when it is
// open, and leads to the page that was asked for.
func TestOpening(t *testing.T) {
	td := tdict.New(2)
	for i := range 3000 {
		require.NoError(t, td.Set(nestedkey.Key(fmt.Sprintf("%04d", i)), tensor.Vector[int64](1, 2)))
	}
	dir := filepath.Join(testkit.TempDir(t), "d.tdc")
	require.NoError(t, memmap.Save(dir, td))
	s, err := Handler(Options{Sources: []Source{{Path: dir}}})
	require.NoError(t, err)
	s.patience = -1
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/leaf?k=0007", nil))
	require.Equal(t, http.StatusOK, w.Code)
	require.Contains(t, w.Body.String(), "Opening")
	require.Contains(t, w.Body.String(), `href="leaf?k=0007"`)
	require.Contains(t, w.Body.String(), "</html>")
	w = httptest.NewRecorder()
	s.patience = 1 << 40
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/leaf?k=0007", nil))
	require.Contains(t, w.Body.String(), "0007")
	require.NotContains(t, w.Body.String(), "Opening")
	require.NoError(t, s.Close())
}
