package dircache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Create makes a cache in the directory dir, which must not exist. Samples are like schema, one
// sample of batch shape [] of which only keys, dtypes and shapes count, so that meta tensors will
// do. Room for 2 + Retain generations is set aside, so a full disk is an error now. The cache is
// there whole or not at all.
//
// Create returns [samplecache.ErrSchema], [samplecache.ErrConfig] or [samplecache.ErrLimits] for
// what cannot be, [samplecache.ErrOtherHost] on a network file system, fs.ErrExist if there is
// something at dir, [errors.ErrUnsupported] on systems without FIFOs, and errors of the disk.
func Create(dir string, schema *tdict.TensorDict, config samplecache.Config) error {
	return failed("create", dir, "", create(dir, schema, config))
}

func create(dir string, schema *tdict.TensorDict, config samplecache.Config) error {
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
	tmp, lock, err := makeTemp(filepath.Dir(at))
	if err != nil {
		return bare(err)
	}
	if err = plain(furnish(tmp, m)); err == nil {
		err = vfs.PublishNew(vfs.OS, tmp, at, false)
	}
	if err != nil {
		err = errors.Join(err, os.RemoveAll(tmp))
	}
	return errors.Join(err, lock.Unlock())
}

// tempPrefix begins the name of a cache that is being made; vfs.MakeTemp gives names in which
// memmap makes nothing.
const (
	tempPrefix = ".creating-"
	tempRandom = 8
)

// makeTemp makes an empty directory in parent, and locks it. It removes those that were left by
// processes that are gone.
func makeTemp(parent string) (tmp string, lock *vfs.Lock, err error) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return "", nil, err
	}
	for _, e := range entries {
		if isTemp(e.Name()) && e.IsDir() {
			sweep(filepath.Join(parent, e.Name()))
		}
	}
	tmp = filepath.Join(parent, tempPrefix+rand.Text()[:tempRandom])
	if err = os.Mkdir(tmp, 0o777); err != nil {
		return "", nil, err
	}
	if lock, err = vfs.TryLock(tmp, vfs.Exclusive); err == nil && !lock.At(tmp) {
		err = errors.Join(fs.ErrNotExist, lock.Unlock()) // another has taken it for one of those
	}
	return tmp, lock, err
}

// isTemp reports whether makeTemp makes such names.
func isTemp(name string) bool {
	random, ok := strings.CutPrefix(name, tempPrefix)
	return ok && len(random) == tempRandom && strings.Trim(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// sweep removes what nobody holds. What cannot be removed is in nobody's way.
func sweep(dir string) {
	l, err := vfs.TryLock(dir, vfs.Exclusive)
	if err != nil {
		return
	}
	if l.At(dir) {
		err = os.RemoveAll(dir)
	}
	_ = errors.Join(err, l.Unlock())
}

// plain returns what is wrong, without the name of a file that will not be there.
func plain(err error) error {
	of, ok := errors.AsType[*memmap.FileError](err)
	switch {
	case ok && errors.Is(err, memmap.ErrName):
		return fmt.Errorf("%w: %w", samplecache.ErrSchema, of.Err)
	case ok:
		return bare(of.Err)
	}
	return bare(err)
}

// newManifest returns the MANIFEST of a new cache.
func newManifest(schema *tdict.TensorDict, config samplecache.Config) (*manifest, error) {
	schema, err := samplecache.Schema(schema)
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
		return nil, fmt.Errorf("%w: got samples of %d bytes, %d of them", samplecache.ErrSchema, n, filled.Samples)
	}
	return m, nil
}

// furnish makes all that a cache consists of in an empty directory.
func furnish(dir string, m *manifest) error {
	s, err := newSession(dir, dir, m, samplecache.Options{}) // which takes no part in anything
	if err != nil {
		return err
	}
	defer s.end()
	if err := os.Mkdir(filepath.Join(dir, peersName), 0o777); err != nil {
		return err
	}
	if err := writeFile(filepath.Join(dir, lockName), nil, false); err != nil {
		return err
	}
	sh := &shelf{dir: dir, m: m}
	err = sh.add(store{generationRole, 1})
	for i := range uint64(1 + m.retain()) {
		if err == nil {
			err = sh.add(store{spareRole, 1 + i})
		}
	}
	if err == nil {
		err = s.makeControl(dir)
	}
	if err == nil {
		err = os.Rename(filepath.Join(dir, newPrefix+controlName), filepath.Join(dir, controlName))
	}
	if err == nil {
		err = m.write(dir)
	}
	return err
}
