package nrt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/ragged"
)

// Save writes j to a file, which it makes or replaces as a whole. It is [SaveWith] without options.
func Save(path string, j *ragged.Joint) error {
	return SaveWith(context.Background(), path, j, SaveOptions{})
}

// SaveOptions say how [SaveWith] goes about it. The zero value is the default.
type SaveOptions struct {
	// NoSync does not wait for the disk. Whatever happens to the process, the file is all of the
	// old or all of the new; if the machine stops within the next half minute or so, it may be
	// neither.
	NoSync bool
}

// SaveWith writes j to a file, as [Write] does. If it returns nil, the file holds j, durably; on an
// error, and after a crash at any moment, it is all of what it was before, or all of the new one.
// Permissions stay those of the file that is replaced, and a link to it stays a link. j can be one
// that was opened from that file, which lives on for whoever has it open; some systems do not
// replace a file that is mapped. What a save that was killed left beside the file is removed.
//
// Of a part of a collection, such as a range of rows, that part is written. The name of its tree is
// not kept.
//
// SaveWith returns a [FileError]: [ErrUnsupported], with the field, for what the format does not
// have: values with dims of their own, several trees, complex numbers and bfloat16, and a field
// "lengths" that readers would pass over; shapeops.ErrKind if j is nil, [ErrClosed] and [ErrFault]
// of values in mapped files, fs.ErrInvalid for a path that is no name for a file, fs.ErrExist if
// something other than a regular file is there, what the system says, such as fs.ErrNotExist if the
// directory is not there, and ctx's error if that ends first.
func SaveWith(ctx context.Context, path string, j *ragged.Joint, opt SaveOptions) error {
	return saveError(path, save(ctx, path, j, opt))
}

// saveError returns err as one about saving the file at path.
func saveError(path string, err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*FileError](err); ok && e.Path == "" {
		return &FileError{"save", path, e.Name, e.Err}
	}
	return &FileError{Op: "save", Path: path, Err: errtext.Bare(err)}
}

func save(ctx context.Context, path string, j *ragged.Joint, opt SaveOptions) error {
	p, err := newPlan(j)
	if err != nil {
		return err
	}
	at, err := resolve(path)
	if err != nil {
		return err
	}
	s := &saver{disk: vfs.OS, at: at, noSync: opt.NoSync}
	if s.perm, err = permissions(s.disk, at); err != nil {
		return err
	}
	return s.save(func(w io.Writer) error { return p.writeTo(ctx, w) })
}

// resolve is vfs.Resolve of a path that ends in the name of a file.
func resolve(path string) (string, error) {
	if _, name := filepath.Split(path); name == "" || name == "." || name == ".." {
		return "", fmt.Errorf("%w: %q is no name for a file", fs.ErrInvalid, name)
	}
	return vfs.Resolve(path)
}

// permissions returns those of the file at a path, 0 if there is none. It returns fs.ErrExist for
// what is not a regular file.
func permissions(disk vfs.FS, at string) (fs.FileMode, error) {
	info, err := disk.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, nil
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("%w: got mode %v, want a regular file to replace", fs.ErrExist, info.Mode())
	}
	return info.Mode().Perm(), nil
}

// A saver puts a file in the place of another, or where there is none.
type saver struct {
	disk   vfs.FS
	at     string      // clean and free of links
	perm   fs.FileMode // 0 for those of a new file
	noSync bool
}

// save writes the file in a directory beside its place, which nobody else can enter, and moves it.
func (s *saver) save(write func(io.Writer) error) error {
	tmp, err := vfs.MakeTemp(s.disk, s.at, 0o700)
	if err != nil {
		return err
	}
	if err = s.write(tmp.New(), write); err == nil {
		err = s.move(tmp.New())
	}
	if err != nil {
		return errors.Join(err, tmp.Remove())
	}
	_ = tmp.Remove() // empty; what is left of it a later save removes
	return nil
}

// write writes a file, durably.
func (s *saver) write(file string, write func(io.Writer) error) error {
	f, err := s.disk.Create(file)
	if err != nil {
		return err
	}
	if s.perm != 0 {
		err = s.disk.Chmod(file, s.perm)
	}
	if err == nil {
		err = write(f)
	}
	if err == nil && !s.noSync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// move moves a file to its place, durably.
func (s *saver) move(file string) error {
	if err := s.disk.Rename(file, s.at); err != nil {
		return err
	}
	if s.noSync {
		return nil
	}
	if err := s.disk.SyncDir(filepath.Dir(s.at)); err != nil {
		return fmt.Errorf("the new file is in place, but a crash may bring the old one back: %w", err)
	}
	return nil
}
