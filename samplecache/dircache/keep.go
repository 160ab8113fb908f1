package dircache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
		err = s.copyTo(ctx, r.(*rows), path, at)
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
		return "", bare(err)
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

// copyTo copies a generation to a path on another file system, at which there is nothing.
func (s *session) copyTo(ctx context.Context, r *rows, path, at string) error {
	_, err := os.Lstat(at)
	switch {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return bare(err)
	}
	return memmap.SaveWith(ctx, path, r.ds.TensorDict, memmap.SaveOptions{NoSync: !s.fixed.Config.Durable, NoReplace: true})
}

// link makes the dataset of a generation appear at a path. The lock is held, and the generation
// too.
func (s *session) link(id uint64, at string) error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	sh, err := s.lookAt(m)
	if err != nil {
		return err
	}
	from := store{generationRole, id}
	if !sh.has(from) {
		from.role = heldRole
	}
	if !sh.has(from) {
		return engine.ErrGenerationGone
	}
	tmp, err := vfs.MakeTemp(vfs.OS, at, 0o777)
	if err != nil {
		return err
	}
	if err = os.Mkdir(tmp.New(), 0o777); err == nil {
		err = s.linkTo(tmp.New(), sh, from)
	}
	passing("linked")
	if err == nil {
		err = vfs.PublishNew(vfs.OS, tmp.New(), at, false)
	}
	return errors.Join(err, tmp.Remove())
}

// linkTo gives the files of a store names in a directory, once it is marked.
func (s *session) linkTo(dir string, sh *shelf, from store) error {
	if err := s.tryLink(dir, sh.at(from)); err != nil {
		return err
	}
	if err := writeAt(filepath.Join(sh.at(from), recordsName), []byte{1}, keptAt, true); err != nil {
		return err
	}
	passing("marked")
	return filepath.WalkDir(sh.at(from), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == sh.at(from) || path == filepath.Join(sh.at(from), recordsName) {
			return err
		}
		rel, err := filepath.Rel(sh.at(from), path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Mkdir(filepath.Join(dir, rel), 0o777)
		}
		return os.Link(path, filepath.Join(dir, rel))
	})
}

// tryLink returns an error if files cannot be linked from one directory to the other, before
// anything is marked.
func (s *session) tryLink(to, from string) error {
	probe := filepath.Join(to, ".probe")
	if err := os.Link(filepath.Join(from, "meta.json"), probe); err != nil {
		return err
	}
	return os.Remove(probe)
}
