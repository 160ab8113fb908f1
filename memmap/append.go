package memmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/go-tensordict/tensordict/internal/jsonscan"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/tdict"
)

// AppendMember saves td as a further, last member of the lazy stack in the directory dir. It is
// written beside the others and gets its number as a whole: who opens dir meanwhile, Python too,
// sees all of it or nothing, and what is open shows it after [Dataset.Refresh]. Then the meta.json
// says how many members there are at least, so that one that is lost is [ErrCorrupt]. Several may
// append at the same time.
//
// td must stack with the first member: shapeops.ErrShape and tdict.ErrKind are those of
// [tdict.LazyStack]; other members are not looked at. AppendMember returns [ErrUnsupported] if dir is no lazy
// stack, [ErrCorrupt] if members are missing, [ErrBusy] if others change the meta.json for longer
// than a second, and the errors of [SaveWith]. If only the meta.json could not be written, the
// member is there.
func AppendMember(dir string, td *tdict.TensorDict) error {
	s := &saver{op: "append member", dir: dir, ctx: context.Background(), may: replaceNothing}
	if err := s.check(td); err != nil {
		return err
	}
	at, err := vfs.Resolve(dir)
	if err == nil {
		err = s.appendTo(at, td)
	}
	return s.fail("", err)
}

// appendTo appends a member to the lazy stack at a path that is free of links.
func (s *saver) appendTo(at string, td *tdict.TensorDict) error {
	root, err := vfs.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	m, err := nodeIn(root)
	if err != nil {
		return s.fail(metaName, err)
	}
	if m.class != lazyClass {
		return s.fail(metaName, unsupported("got a %s, want a lazy stack to append to", quote(m.class)))
	}
	if err := stacksWith(filepath.Join(at, "0"), td, m.dim); err != nil {
		return err
	}
	k, err := s.beside(vfs.OS, filepath.Join(at, strconv.Itoa(m.native.members)), &oldTree{modes: newModes()}, td)
	if err != nil {
		return err
	}
	number, appeared, err := k.asMember(at, m.native.members)
	if !appeared {
		return errors.Join(err, k.abort())
	}
	return errors.Join(err, countMembers(root, number+1))
}

// stacksWith returns an error unless a dictionary stacks with the member in a directory.
func stacksWith(first string, td *tdict.TensorDict, dim int) error {
	ds, err := Open(first)
	if err != nil {
		return err
	}
	_, err = tdict.LazyStack(max(dim, 0), ds.TensorDict, td)
	return errors.Join(err, ds.Close())
}

// asMember puts what was written in its place: the first free number, before which there are least
// members at least. It reports whether it is there now.
func (k *dirSink) asMember(at string, least int) (number int, appeared bool, err error) {
	for ; ; number++ {
		k.dir = filepath.Join(at, strconv.Itoa(number))
		_, err := os.Lstat(k.dir)
		switch {
		case err == nil:
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return 0, false, err
		case number < least:
			return 0, false, corrupt("member %d is missing, want %d members", number, least)
		}
		if appeared, err := k.publish(); appeared || !errors.Is(err, fs.ErrExist) {
			return number, appeared, err
		} // another took the number
	}
}

// countMembers has the meta.json of a lazy stack say that there are so many members at least.
func countMembers(dir *vfs.Root, members int) error {
	opt := OpenOptions{}
	unlock, err := opt.lockMeta(dir)
	if err != nil {
		return err
	}
	defer unlock()
	text, _, err := readMeta(dir)
	if err != nil {
		return err
	}
	m, err := decodeMeta(text, maxMeta)
	if err != nil || m.native.members >= members {
		return err
	}
	text, err = editField(text, fieldNative, func(native []byte) ([]byte, error) {
		return withMembers(native, members)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", metaName, err)
	}
	return replaceMeta(dir, text, true)
}

// withMembers returns the native facts about a lazy stack, nil for none, with the number of its
// members.
func withMembers(native []byte, members int) ([]byte, error) {
	if native == nil {
		native = []byte(`[{"v":1}]`)
	}
	out := []byte{'['}
	number := strconv.AppendInt(nil, int64(members), 10)
	s := jsonscan.New(native)
	err := s.Array(func(int) error {
		object, err := s.Raw()
		if err == nil {
			object, err = editField(object, "members", func([]byte) ([]byte, error) { return number, nil })
		}
		number = nil // once
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, object...)
		return err
	})
	return append(out, ']'), err
}
