package dircache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache/engine"
	"github.com/go-tensordict/tensordict/tdict"
)

// Create makes a cache in the directory dir, which must not exist. schema describes one sample: its
// batch shape is [], and only its keys, dtypes and shapes are used, so its tensors may be meta
// tensors.
//
// Create allocates room for 2 + Retain generations, so if the disk is too small, Create fails. If
// Create returns an error, nothing is left at dir. It returns
//
//   - [engine.ErrSchema], [engine.ErrConfig] or [engine.ErrLimits] if schema or config is
//     invalid,
//   - [engine.ErrOtherHost] on a network file system,
//   - fs.ErrExist if dir exists,
//   - [errors.ErrUnsupported] on systems without locks of ranges of a file,
//   - errors of the disk.
func Create(dir string, schema *tdict.TensorDict, config engine.Config) error {
	return failed("create", dir, "", create(dir, schema, config))
}

func create(dir string, schema *tdict.TensorDict, config engine.Config) error {
	if err := usable(dir); err != nil {
		return err
	}
	m, err := newManifest(schema, config)
	if err != nil {
		return err
	}
	at, err := filepath.Abs(dir)
	if err == nil {
		err = local(filepath.Dir(at))
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(at); err == nil {
		return fs.ErrExist
	}
	tmp, err := vfs.MakeTemp(vfs.OS, at)
	if err != nil {
		return err
	}
	if err = os.Mkdir(tmp.New(), 0o777); err == nil {
		err = withoutFile(makeFiles(tmp.New(), m))
	}
	if err == nil {
		err = vfs.PublishNew(vfs.OS, tmp.New(), at, false)
	}
	return errors.Join(err, tmp.Remove())
}

// withoutFile returns the reason of err without the name of the file, since Create has removed the
// file.
func withoutFile(err error) error {
	of, ok := errors.AsType[*memmap.DatasetError](err)
	switch {
	case ok && errors.Is(err, memmap.ErrName):
		return fmt.Errorf("%w: %w", engine.ErrSchema, of.Err)
	case ok:
		return bare(of.Err)
	}
	return err
}

// newManifest returns the MANIFEST of a new cache.
func newManifest(schema *tdict.TensorDict, config engine.Config) (*manifest, error) {
	schema, err := engine.Schema(schema)
	if err != nil {
		return nil, err
	}
	filled, err := config.Filled()
	if err != nil {
		return nil, err
	}
	m := &manifest{Format: formatName, Version: formatVersion, ID: rand.Text(), Config: filled}
	if m.Schema, err = specs(schema); err != nil {
		return nil, err
	}
	if n := m.sampleBytes(); n > math.MaxInt64/int64(filled.Samples)/8 {
		return nil, fmt.Errorf("%w: got %d samples of %d bytes, want less than 2^60 bytes in all", engine.ErrSchema, filled.Samples, n)
	}
	return m, nil
}

// makeFiles makes the files of a new cache in an empty directory.
func makeFiles(dir string, m *manifest) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	sl := &storeList{session: &session{at: dir, place: info}, m: m}
	for i := range uint64(2 + m.retain()) {
		if err == nil {
			err = sl.add(1 + i)
		}
	}
	if err == nil {
		err = makeControl(filepath.Join(dir, controlName), m)
	}
	if err == nil {
		err = m.write(dir, info.Mode())
	}
	return err
}
