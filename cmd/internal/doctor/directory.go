package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
)

// Directory examines the directory of a cache. If the directory does not exist, Directory examines
// its parent for a cache with config and schema; schema may be nil.
func Directory(ctx context.Context, dir string, config samplecache.Config, schema *tdict.TensorDict) []Finding {
	var planned facts
	if schema != nil {
		planned = factsOf(config, schema)
	}
	return thisMachine.directory(ctx, dir, planned)
}

func (m machine) directory(ctx context.Context, dir string, planned facts) []Finding {
	dir = filepath.Clean(dir)
	at, err := filepath.Abs(dir)
	if err != nil {
		return []Finding{problem("change to a directory that exists", "%v", err)}
	}
	info, err := os.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist) && isLink(at):
		return []Finding{problem("remove the link, or give another path", "%s is a link to a path that does not exist", dir)}
	case errors.Is(err, fs.ErrNotExist):
		return m.future(ctx, dir, planned)
	case err != nil:
		return []Finding{problem("give another path, or let this user search the directories above it", "%s: %v", dir, reason(err))}
	case !info.IsDir():
		return []Finding{problem("give the directory of a cache, or a path that does not exist", "%s is a file, not a cache", dir)}
	}
	if at, err = filepath.EvalSymlinks(at); err != nil {
		return []Finding{problem("give another path", "%v", err)}
	}
	f, err := look(ctx, dir)
	list := []Finding{opened(dir, f, err)}
	list = append(list, access(at, info)...)
	list = append(list, m.place(at, f)...)
	list = append(list, m.members(f.stats)...)
	return append(list, m.rest(filepath.Dir(at), f)...)
}

// isLink reports whether there is a symbolic link at a path.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// future examines the place where a directory would be made.
func (m machine) future(ctx context.Context, dir string, planned facts) []Finding {
	parent := filepath.Dir(dir)
	real, err := filepath.Abs(parent)
	if err == nil {
		real, err = filepath.EvalSymlinks(real)
	}
	if err != nil {
		return []Finding{problem("make the directory "+parent+" first", "no cache can be made in %s: %v", parent, reason(err))}
	}
	list := []Finding{fine("%s does not exist yet", dir)}
	if _, err := look(ctx, parent); errors.Is(err, samplecache.ErrOtherHost) { // look finds that first
		list[0] = opened(dir, facts{}, err)
	}
	if err := vfs.CanWrite(real); err != nil {
		list = append(list, problem("choose another directory, or ask its owner for mode 2775 and a common group", "this user may not make a cache in %s: %v", parent, reason(err)))
	}
	return append(append(list, m.place(real, planned)...), m.rest(real, planned)...)
}

// opened is the finding about a cache that was opened, or about the error.
func opened(dir string, f facts, err error) Finding {
	const remake = "if nobody needs its samples, remove it and make it again"
	switch {
	case err == nil && f.waits():
		return warning("see tdict cache status", "%s is a cache; the next generation waits for %s", dir, f.stats.PublishWaits)
	case err == nil:
		latest := "no generation yet"
		if f.stats.Latest > 0 {
			latest = fmt.Sprintf("generation %d is the latest", f.stats.Latest)
		}
		return fine("%s is a cache: %s, the next has %d of %d samples", dir, latest, f.stats.Committed, f.stats.Samples)
	case errors.Is(err, samplecache.ErrOtherHost) && strings.Contains(err.Error(), "is a network file system"):
		return problem("use a local disk or /dev/shm, or nats://HOST/NAME for several machines", "%v", err)
	case errors.Is(err, samplecache.ErrOtherHost):
		return problem("make a cache on this machine, use nats://HOST/NAME for several machines, or see Adopt in docs/samplecache.md if the disk was moved", "%v", err)
	case errors.Is(err, dircache.ErrRestarted):
		return fine("%v", err)
	case errors.Is(err, fs.ErrPermission):
		return problem("ask the owner for a common group and mode 2775", "%v", err)
	case errors.Is(err, samplecache.ErrCorrupt):
		return problem("end all processes that use it and open it again; if it stays damaged, "+remake, "%v", err)
	case errors.Is(err, errors.ErrUnsupported):
		return problem(remake, "%v", err)
	case errors.Is(err, fs.ErrNotExist):
		return problem("give the directory of a cache, or a path that does not exist, and tdict cache create makes one", "%s is not a cache: %v", dir, reason(err))
	}
	return problem("see After a crash in docs/samplecache.md", "%v", err)
}

// reason returns the innermost text of an error about a path.
func reason(err error) error {
	if e, ok := errors.AsType[*dircache.Error](err); ok && e.Path != "" {
		return fmt.Errorf("it has no file %s", e.Path)
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// rest examines leftovers in the parent directory and the limits of this process. A last finding
// lists the checks that were left out.
func (m machine) rest(parent string, f facts) []Finding {
	list := leftovers(parent)
	list = append(list, m.limits(f)...)
	if !m.known() {
		list = append(list, fine("not looked at, since this system has no /proc: mounts, limits of memory, limits of processes, members"))
	}
	return list
}

// leftovers finds directories of commands that were killed, or that run.
func leftovers(parent string) []Finding {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil // other findings say it
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !vfs.Ours(filepath.Join(parent, e.Name())) })
	if len(entries) == 0 {
		return nil
	}
	return []Finding{warning("the next command that writes there removes what killed ones left",
		"%s has %d directories such as %s of commands that run, or were killed", parent, len(entries), entries[0].Name())}
}
