package view_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/view"
)

// TestBroken shows every broken dataset of package memmap: as an error that names no directory
// around it, or as pages.
func TestBroken(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "memmap", "testdata", "broken", "*.txt"))
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			_, sections := testkit.Sections(t, file)
			around := testkit.TempDir(t)
			dir := filepath.Join(around, "broken")
			require.NoError(t, os.Mkdir(dir, 0o777))
			testkit.BuildDir(t, dir, sections)
			s := serve(t, view.Options{}, dir)
			for _, address := range []string{"/", "/?as=list", "/rows?row=0"} {
				w := get(t, s, address)
				require.Contains(t, []int{http.StatusOK, http.StatusNotFound, http.StatusInternalServerError}, w.Code)
				require.Contains(t, w.Body.String(), "</html>")
				require.NotContains(t, w.Body.String(), around, address)
				require.NotContains(t, w.Body.String(), "panic")
			}
		})
	}
}
