package vfs

import (
	"io/fs"
	"os"

	"github.com/go-tensordict/tensordict/internal/mapping"
)

// OpenFile is [os.OpenFile] with a retry: if the process has no descriptor left, it closes the
// descriptors that mappings keep and tries again, see [mapping.Retry]. ReadDir and [OpenRoot] do
// the same.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return mapping.Retry(func() (*os.File, error) { return os.OpenFile(path, flag, perm) })
}

// ReadDir is [os.ReadDir] with the retry of [OpenFile].
func ReadDir(path string) ([]fs.DirEntry, error) {
	return mapping.Retry(func() ([]fs.DirEntry, error) { return os.ReadDir(path) })
}

// retry is mapping.Retry for a function that returns only an error.
func retry(do func() error) error {
	_, err := mapping.Retry(func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func removeAll(path string) error { return retry(func() error { return os.RemoveAll(path) }) }
