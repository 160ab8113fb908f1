package memmap

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Save writes td to the directory dir, which it creates or replaces as a whole. It is [SaveWith]
// without options.
func Save(dir string, td *tdict.TensorDict) error {
	return SaveWith(context.Background(), dir, td, SaveOptions{})
}

// SaveOptions say how [SaveWith] goes about it. The zero value is the default.
type SaveOptions struct {
	// Progress, if not nil, is called after each leaf with the bytes of leaves written, and of all
	// leaves.
	Progress func(done, total int64)
}

// SaveWith writes td to the directory dir. If it returns nil, dir holds td, durably; on an error,
// and after a crash at any moment, dir holds all of what it held before, or all of td. td can be
// one that was opened from dir.
//
// dir may hold a saved dictionary, which is replaced, or nothing. If it holds files of another
// kind, the error is [ErrForeign]; no other process may put files there meanwhile. The new
// directory has the permissions of the old one. On systems that cannot exchange two directories,
// which are all but Linux, a crash in one short moment leaves the old one beside dir; FORMAT.md
// says where.
//
// The error is [ErrName] if a key has no name in the format: "shape", "device" and "_type" at any
// level, one too long for a file name, two that need the same file, or dictionaries more than 256
// deep. It is shapeops.ErrShape if a shape has more than 64 dims, [ErrUnsupported] if a leaf is not
// a tensor, fs.ErrInvalid if dir holds the working directory, tdict.ErrKind if td is nil, and ctx's
// error if that ends first.
func SaveWith(ctx context.Context, dir string, td *tdict.TensorDict, opt SaveOptions) error {
	if !cast.LittleEndian() {
		return fmt.Errorf("save: %w on a big-endian machine", errors.ErrUnsupported)
	}
	if td == nil {
		return fmt.Errorf("save: %w: got a nil dictionary", tdict.ErrKind)
	}
	dir, perm, err := resolve(dir)
	if err != nil {
		return err
	}
	if err := checkReplaceable(dir); err != nil {
		return err
	}
	if err := makeParent(dir); err != nil {
		return err
	}
	return saveTo(ctx, vfs.OS, dir, perm, td, opt)
}

// resolve returns the directory that a path means, following links as Open does, and the
// permissions that it has or is to have. It refuses a directory that holds the working directory,
// or is it: a process that works there would lose it.
func resolve(dir string) (string, fs.FileMode, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != "" {
		dir, err = filepath.Abs(dir)
		return dir, 0o777, err
	}
	if err != nil {
		return "", 0, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", 0, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", 0, err
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return "", 0, err
	}
	if here, err = filepath.EvalSymlinks(here); err != nil {
		return "", 0, err
	}
	if rel, err := filepath.Rel(dir, here); err == nil && filepath.IsLocal(rel) {
		return "", 0, fmt.Errorf("save: %w: the working directory is in %s", fs.ErrInvalid, dir)
	}
	return dir, info.Mode().Perm(), nil
}

// makeParent makes the directory that dir is in, if need be with those around it, durably.
func makeParent(dir string) error {
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeParent(parent); err != nil {
		return err
	}
	if err := os.Mkdir(parent, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return vfs.OS.SyncDir(filepath.Dir(parent))
}

// checkReplaceable returns ErrForeign if dir holds a file that no writer of this format makes, or
// files without the meta.json that comes with them.
func checkReplaceable(dir string) error {
	found, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	saved := slices.ContainsFunc(found, func(d fs.DirEntry) bool { return d.Name() == metaName })
	for _, d := range found {
		at := filepath.Join(dir, d.Name())
		if d.IsDir() {
			if err := checkReplaceable(at); err != nil {
				return err
			}
			continue
		}
		if !saved || !d.Type().IsRegular() || !ours(d.Name()) {
			return fmt.Errorf("save: %w: %s would be lost; save elsewhere", ErrForeign, at)
		}
	}
	return nil
}

// ours reports whether writers of this format make files of that name.
func ours(name string) bool {
	return name == metaName || name == "other.pickle" || name == "pickle.pkl" || strings.HasSuffix(name, leafExt)
}

// saveTo is SaveWith on any disk; dir is known to be free or a saved dictionary, and gets these
// permissions.
func saveTo(ctx context.Context, disk vfs.FS, dir string, perm fs.FileMode, td *tdict.TensorDict, opt SaveOptions) error {
	s := saver{ctx: ctx, disk: disk, perm: perm, opt: opt}
	s.root = filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+".saving-"+rand.Text()[:8])
	if err := s.plan("", td, 0); err != nil {
		return err
	}
	if err := s.dict("", td); err != nil {
		return errors.Join(err, disk.RemoveAll(s.root))
	}
	err := vfs.Publish(disk, s.root, dir)
	if e, ok := errors.AsType[*vfs.PublishError](err); ok && (e.State == vfs.Untouched || e.State == vfs.Leftover) {
		return errors.Join(err, disk.RemoveAll(s.root))
	}
	return err
}

// A saver writes one dictionary.
type saver struct {
	ctx         context.Context
	disk        vfs.FS
	perm        fs.FileMode // of the outermost directory
	opt         SaveOptions
	root        string // where it is written before it is published
	done, total int64  // bytes of leaves
}

func (s *saver) os(at string) string { return filepath.Join(s.root, filepath.FromSlash(at)) }

// plan checks all names and shapes before anything is written, and counts the bytes.
func (s *saver) plan(at string, td *tdict.TensorDict, depth int) error {
	if depth > tdict.MaxDepth {
		return &FileError{"save", path.Join(at, "."), fmt.Errorf("%w: dictionaries nested more than %d deep", ErrName, tdict.MaxDepth)}
	}
	if err := checkShape(td.Shape()); err != nil {
		return &FileError{"save", path.Join(at, "."), err}
	}
	taken := map[string]nestedkey.Key{}
	for key, v := range td.All() {
		name := fileName(key.Name())
		inner, isDict := v.(*tdict.TensorDict)
		if !isDict {
			name += leafExt
		}
		if why := nameClash(key, name, taken); why != "" {
			return &FileError{"save", path.Join(at, name), fmt.Errorf("%w: %q: %s", ErrName, string(key), why)}
		}
		taken[name] = key
		var err error
		if isDict {
			err = s.plan(path.Join(at, name), inner, depth+1)
		} else {
			err = s.planLeaf(path.Join(at, name), v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nameClash says why an entry cannot be saved in the file name, beside those that are taken, or is
// empty.
func nameClash(key nestedkey.Key, name string, taken map[string]nestedkey.Key) string {
	other, clash := taken[name]
	switch {
	case reserved(key.Name()):
		return "the format has a field of that name"
	case name == metaName:
		return "the format has a file of that name"
	case clash:
		return fmt.Sprintf("%q needs the same file", string(other))
	case len(name) > maxName:
		return fmt.Sprintf("got a file name of %d bytes, want at most %d", len(name), maxName)
	}
	return ""
}

func (s *saver) planLeaf(at string, v tdict.Value) error {
	t, ok := v.(*tensor.Tensor)
	if !ok {
		return &FileError{"save", at, fmt.Errorf("%w: a %T cannot be saved yet: Exclude it", ErrUnsupported, v)}
	}
	s.total += int64(t.ByteSize())
	if err := checkShape(t.Shape()); err != nil {
		return &FileError{"save", at, err}
	}
	return nil
}

// dict writes td as the directory at, which it syncs. meta.json comes last.
func (s *saver) dict(at string, td *tdict.TensorDict) error {
	perm := fs.FileMode(0o777)
	if at == "" {
		perm = s.perm
	}
	if err := s.disk.Mkdir(s.os(at), perm); err != nil {
		return &FileError{"save", path.Join(at, "."), err}
	}
	m := meta{shape: td.Shape()}
	for key, v := range td.All() {
		text := key.Name()
		e := metaEntry{name: text}
		var err error
		switch v := v.(type) {
		case *tdict.TensorDict:
			e.isDict = true
			err = s.dict(path.Join(at, fileName(text)), v)
		case *tensor.Tensor:
			e.leaf = metaLeaf{Device: "cpu", Shape: v.Shape().Clone(), DType: torch + v.DType().String(), IsNested: new(bool)}
			err = s.leaf(path.Join(at, fileName(text)+leafExt), v)
		}
		if err != nil {
			return err
		}
		m.entries = append(m.entries, e)
	}
	text, err := m.encode()
	if err == nil && len(text) > maxMeta {
		err = fmt.Errorf("%w: got %d bytes of names and shapes, want at most %d", ErrName, len(text), maxMeta)
	}
	if err != nil {
		return &FileError{"save", path.Join(at, metaName), err}
	}
	if err := s.file(path.Join(at, metaName), func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		return err
	}
	return s.disk.SyncDir(s.os(at))
}

// leaf writes the file of a leaf; one without elements has none.
func (s *saver) leaf(at string, t *tensor.Tensor) error {
	if err := s.ctx.Err(); err != nil {
		return &FileError{"save", at, err}
	}
	if t.Size() > 0 {
		if err := s.file(at, func(w io.Writer) error { _, err := t.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	s.done += int64(t.ByteSize())
	if s.opt.Progress != nil {
		s.opt.Progress(s.done, s.total)
	}
	return nil
}

// file creates a file, has it written, and syncs it.
func (s *saver) file(at string, write func(io.Writer) error) error {
	f, err := s.disk.Create(s.os(at))
	if err != nil {
		return &FileError{"save", at, err}
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return &FileError{"save", at, err}
	}
	return nil
}
