package memmap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// AppendMember saves td as a new last member of the lazy stack in the directory dir. It writes the
// member beside the others and renames it to its number. A reader of dir, Python too, sees all of
// the member or nothing, and an open [Dataset] shows it after [Dataset.Refresh]. Several processes
// may append at the same time.
//
// Then AppendMember records two things in meta.json: the minimum number of members, so that Open
// can return [ErrCorrupt] if the last one is lost, and the kind of value under each key. It opens
// member 0 and the members that Python has added since the last AppendMember, but no others.
//
// AppendMember returns, with nothing changed:
//
//   - the errors of [tdict.LazyStack] if td does not stack with the members
//   - [ErrUnsupported] if dir is not a lazy stack, or td and member 0 have different classes
//   - [ErrCorrupt] if the last member is missing
//   - [ErrBusy] if others change the meta.json for longer than 10 seconds
//   - [ErrReplaced] if another replaces dir meanwhile, as by Save
//   - the errors of [SaveWith]
//
// If writing meta.json fails, AppendMember returns an error that is [ErrDone], because the member
// was appended. Do not call it again: that would append td a second time.
//
// Python opens a lazy stack only if the batch shapes of all members have the same number of dims.
func AppendMember(dir string, td *tdict.TensorDict) error {
	s := &saver{op: "append member", dir: dir, ctx: context.Background(), may: replaceNothing}
	if err := s.check(td); err != nil {
		return err
	}
	s.compare(td)
	defer s.compared.end()
	at, err := vfs.Resolve(dir)
	if err == nil {
		err = s.appendTo(at, td)
	}
	return s.fail("", err)
}

// appendTo appends td to the lazy stack at a path without links.
func (s *saver) appendTo(at string, td *tdict.TensorDict) error {
	if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
		return unsupported("got a file, want the directory of a lazy stack to append to")
	}
	root, err := vfs.OpenRoot(at)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := s.appendIn(root, at, td); err != nil {
		return cmp.Or(stillAt(root, at), err)
	}
	return nil
}

// stillAt returns ErrReplaced unless root is the directory at a path.
func stillAt(root *vfs.Root, at string) error {
	was, err := root.Lstat(".")
	if is, missing := os.Stat(at); err != nil || missing != nil || !os.SameFile(was, is) {
		return ErrReplaced
	}
	return nil
}

// appendIn appends a member to the lazy stack in root, which was opened at a path.
func (s *saver) appendIn(root *vfs.Root, at string, td *tdict.TensorDict) error {
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
	modes, err := vfs.ModesOf(filepath.Join(at, "0"))
	if err != nil {
		return err
	}
	modes.Exact = true
	k, err := s.beside(vfs.OS, filepath.Join(at, strconv.Itoa(m.native.members)), &oldTree{modes: modes}, td)
	if err != nil {
		return err
	}
	appeared, err := k.asMember(root, at, td)
	if !appeared {
		return errors.Join(err, k.abort())
	}
	return vfs.Done("the member was appended", err)
}

// stacksWith returns an error unless td stacks with the member in the directory first.
func stacksWith(first string, td *tdict.TensorDict, dim int) error {
	ds, err := Open(first)
	if err != nil {
		return err
	}
	_, err = lazyStack(dim, []*tdict.TensorDict{ds.TensorDict, td})
	return errors.Join(err, ds.Close())
}

// asMember renames the written directory to the first free number, and updates the meta.json. It
// holds the lock of the meta.json meanwhile, so that it compares td with the kinds of all members.
// appeared reports whether the member is there now.
func (k *dirSink) asMember(root *vfs.Root, at string, td *tdict.TensorDict) (appeared bool, err error) {
	opt := OpenOptions{Wait: 10 * time.Second}
	unlock, err := opt.lockMeta(root)
	if err != nil {
		return false, err
	}
	defer unlock()
	text, _, err := readMeta(root)
	if err != nil {
		return false, err
	}
	edit, err := newMetaEdit(text)
	if err != nil {
		return false, err
	}
	kinds, number, err := edit.native.kindsIn(at, td)
	if err == nil {
		err = kinds.add(td)
	}
	for err == nil && !appeared {
		k.dir = filepath.Join(at, strconv.Itoa(number))
		if appeared, err = k.publish(); !appeared && errors.Is(err, fs.ErrExist) { // Python took the number
			number, err = number+1, nil
		}
	}
	if err != nil {
		return appeared, err
	}
	edit.setNative("members", strconv.AppendInt(nil, int64(number)+1, 10))
	edit.setNative("kinds", kinds.appendTo(nil))
	return true, replaceMeta(root, edit.sealed(), true)
}

// kindsIn returns the kinds and the number of the members of the lazy stack in the directory at. It
// opens only members that the meta.json does not count, but all of them if td has a key that kinds
// lacks: a member may have it by now, as AddLeaf adds keys.
func (f *nodeFact) kindsIn(at string, td *tdict.TensorDict) (kinds memberKinds, number int, err error) {
	counted := f.kinds.name(td)
	if kinds = (memberKinds{}); counted {
		maps.Copy(kinds, f.kinds)
	}
	if number = f.members; !counted {
		number = 0
	} else if number > 0 {
		number-- // the last member must exist, but need not be read
	}
	for ; ; number++ {
		dir := filepath.Join(at, strconv.Itoa(number))
		_, err := os.Lstat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist) && number < f.members:
			return nil, 0, corrupt("member %d is missing, want %d members", number, f.members)
		case errors.Is(err, fs.ErrNotExist):
			return kinds, number, nil
		case err != nil:
			return nil, 0, err
		case counted && number < f.members:
			continue
		}
		ds, err := Open(dir)
		if err == nil {
			err = errors.Join(kinds.add(ds.TensorDict), ds.Close())
		}
		if err != nil {
			return nil, 0, fmt.Errorf("member %d: %w", number, err)
		}
	}
}

// memberKinds are the kinds of the values under each key of the members of a lazy stack, keys of
// nested dictionaries included.
type memberKinds map[nestedkey.Key]string

// name reports whether there are kinds for all keys of td.
func (kinds memberKinds) name(td *tdict.TensorDict) bool {
	for key := range td.NestedKeys() {
		if _, ok := kinds[key]; !ok {
			return false
		}
	}
	return kinds != nil
}

// kindsOf returns the kinds of the members of td, a lazy stack.
func kindsOf(td *tdict.TensorDict) (memberKinds, error) {
	kinds := memberKinds{}
	for key := range td.NestedKeys() {
		v, err := td.Get(key)
		if err != nil {
			return nil, err
		}
		if s, ok := v.(*tdict.Stacked); ok {
			v = firstMember(s)
		}
		kinds[key] = entryOf(key, v).Kind.String()
	}
	return kinds, nil
}

// firstMember returns the first value of s.
func firstMember(s *tdict.Stacked) tdict.Value {
	for i := range s.Len() {
		if v, err := s.Member(i); err == nil { // not a stack without members
			return v
		}
	}
	return s
}

// add adds the kinds of the member td. It returns tdict.ErrKind if another member has a value of
// another kind under a key.
func (kinds memberKinds) add(td *tdict.TensorDict) error {
	for key := range td.NestedKeys() {
		v, err := td.Get(key)
		if err != nil {
			return err
		}
		got := entryOf(key, v).Kind.String()
		if want, ok := kinds[key]; ok && got != want {
			return &tdict.KeyError{Op: "lazy stack", Key: key, Err: fmt.Errorf("%w: got %s, want %s as in other members", tdict.ErrKind, got, want)}
		}
		kinds[key] = got
	}
	return nil
}

// appendTo appends a JSON object with the kind under each key, sorted by key.
func (kinds memberKinds) appendTo(b []byte) []byte {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(kinds)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(append(appendText(b, string(key)), ':'), kinds[key])
	}
	return append(b, '}')
}
