package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
)

var _ engine.Keeper = (*session)(nil)

// Keep implements engine.Keeper: it makes a directory at path with hard links to the files of the
// generation, and the cache does not fill these files again. On another file system it copies them.
// Keep returns fs.ErrInvalid for a path inside the directory of the cache.
func (s *session) Keep(ctx context.Context, id uint64, path string) error {
	at, err := s.outside(path)
	if err != nil {
		return failed("keep", path, "", err)
	}
	r, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	err = s.call(func() error { return s.locked(func() error { return s.link(id, at) }) })
	if _, ok := errors.AsType[*os.LinkError](err); ok {
		opt := memmap.SaveOptions{NoSync: !s.fixed.Config.Durable, NoReplace: true}
		err = memmap.SaveWith(ctx, at, r.(*rows).ds.TensorDict, opt)
	}
	return errors.Join(failed("keep", path, "", err), r.Close())
}

// outside returns the absolute path, without symbolic links, of a directory to be made at path. It
// returns fs.ErrInvalid for a path inside the directory of the cache.
func (s *session) outside(path string) (string, error) {
	at, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	up, err := filepath.EvalSymlinks(filepath.Dir(at))
	if err != nil {
		return "", err
	}
	for dir := up; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, s.place) {
			return "", fmt.Errorf("%w: it is inside the directory of the cache", fs.ErrInvalid)
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(up, filepath.Base(at)), nil
		}
	}
}

// link makes a dataset of a generation at path at. Once the files are linked, it marks the store,
// so that the cache does not fill it again. The lock is held, and so is the generation.
func (s *session) link(id uint64, at string) error {
	tmp, err := vfs.MakeTemp(vfs.OS, at)
	if err != nil {
		return err
	}
	from := s.path(storeName(id))
	records := filepath.Join(from, recordsName)
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == records {
			return err
		}
		to := filepath.Join(tmp.New(), strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.Mkdir(to, 0o777)
		}
		return os.Link(path, to)
	})
	crashPoint("linked")
	if err == nil {
		err = writeAt(records, []byte{1}, keptAt, true)
	}
	crashPoint("marked")
	if err == nil {
		err = vfs.PublishNew(vfs.OS, tmp.New(), at, false)
	}
	return errors.Join(err, tmp.Remove())
}
