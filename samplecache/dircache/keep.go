package dircache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
)

// Keep implements samplecache.Session: the files of the generation get a second name in a directory
// at path, and the cache does not fill them again. On another file system they are copied.
func (s *session) Keep(ctx context.Context, id uint64, path string) error {
	r, err := s.Open(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	held := r.(*rows).h
	at, err := filepath.Abs(path)
	if err == nil {
		err = s.call(func() error { return s.locked(ctx, func() error { return s.link(id, at) }) })
	}
	if _, ok := errors.AsType[*os.LinkError](err); ok {
		_, err = os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			err = memmap.SaveWith(ctx, path, held.ds.TensorDict, memmap.SaveOptions{NoSync: !s.fixed.Config.Durable})
		} else if err == nil {
			err = fs.ErrExist
		}
	}
	return failed("keep", path, "", err)
}

// link makes the dataset of a generation appear at a path. The lock is held, and the generation
// too.
func (s *session) link(id uint64, at string) error {
	m, err := s.manifest()
	if err != nil {
		return err
	}
	sh, err := lookAt(s.at, m)
	if err != nil {
		return err
	}
	from := store{generationRole, id}
	if !sh.has(from) {
		from.role = heldRole
	}
	if !sh.has(from) {
		return samplecache.ErrGenerationGone
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
	if err := writeAt(sh.at(from)+recordsSuffix, []byte{1}, keptAt, true); err != nil {
		return err
	}
	passing("marked")
	return filepath.WalkDir(sh.at(from), func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == sh.at(from) {
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
