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

// Keep implements engine.Keeper: the files of the generation get a second name in a directory at
// path, and the cache does not fill them again. On another file system they are copied. Keep
// returns fs.ErrInvalid for a path in the directory of the cache.
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

// outside returns the absolute path that a new directory has, free of links. It must not lie in the
// directory of the cache.
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
			return "", fmt.Errorf("%w: it lies in the directory of the cache", fs.ErrInvalid)
		}
		if dir == filepath.Dir(dir) {
			return filepath.Join(up, filepath.Base(at)), nil
		}
	}
}

// link makes a dataset of a generation at a path. Once the files have second names, it marks the
// store, so that the cache does not fill it again. The lock is held, and so is the generation.
func (s *session) link(id uint64, at string) error {
	tmp, err := vfs.MakeTemp(vfs.OS, at, 0o777)
	if err != nil {
		return err
	}
	from := s.path(store{generationRole, id}.name())
	if _, err = os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		from = s.path(store{heldRole, id}.name())
	}
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
	passing("linked")
	if err == nil {
		err = writeAt(records, []byte{1}, keptAt, true)
	}
	passing("marked")
	if err == nil {
		err = vfs.PublishNew(vfs.OS, tmp.New(), at, false)
	}
	return errors.Join(err, tmp.Remove())
}
