package npy

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/vfs"
	"github.com/go-tensordict/tensordict/internal/zipfile"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// SaveDict writes td to an .npz archive, which it creates or replaces as a whole. It is
// [SaveDictWith] without options.
func SaveDict(path string, td tdict.Dictionary) error {
	return SaveDictWith(context.Background(), path, td, SaveDictOptions{})
}

// SaveDictOptions say how [SaveDictWith] saves. The zero value is the default.
type SaveDictOptions struct {
	// NoSync is as in [SaveOptions].
	NoSync bool
	// Compress deflates members, as numpy.savez_compressed does. Such members cannot be mapped.
	Compress bool
	// Unaligned writes the same bytes as numpy.savez, which does not align the elements.
	Unaligned bool
	// Separator separates the parts of a key in the name of a member; "" means "/".
	Separator string
}

// SaveDictWith writes td to an .npz archive that numpy.load reads. "obs/x" becomes the member
// "obs/x.npy"; members are in the order of td.Leaves. Elements begin at multiples of 64 bytes,
// unless they are compressed. SaveDictWith saves as [SaveWith] does. A dictionary without leaves is
// allowed.
//
// The archive has only tensors and their keys. Batch shapes and names of dims are not saved.
//
// SaveDictWith returns a [FileError] with
//
//   - [ErrUnsupported], with all keys, for leaves other than tensors and for dictionaries without
//     entries
//   - ErrUnsupported for a key that cannot be the name of a member: if a part contains the
//     separator, a backslash or a zero byte, if a part before the last is empty, "." or "..", or
//     if the name takes more than 65,535 bytes
//   - the errors of [SaveWith] about a tensor, with the member, and about the file
//   - shapeops.ErrKind if td is nil
func SaveDictWith(ctx context.Context, path string, td tdict.Dictionary, opt SaveDictOptions) error {
	members, err := newMembers(tdict.Of(td), cmp.Or(opt.Separator, "/"))
	if err == nil {
		err = saveFile(ctx, path, opt.NoSync, func(f vfs.File) error { return writeArchive(f, members, opt) })
	}
	return fileformat.SaveFailed(path, err)
}

// A member is an array to be written, and its name in the archive.
type member struct {
	array
	name string
}

// newMembers returns the members for td. It does all checks, except whether their names are valid
// in an archive.
func newMembers(td *tdict.TensorDict, separator string) (all []member, err error) {
	if td == nil {
		return nil, fmt.Errorf("%w: got a nil dictionary", shapeops.ErrKind)
	}
	if err := refuseOthers(td); err != nil {
		return nil, err
	}
	for key, t := range td.Tensors() {
		m := member{}
		if m.name, err = memberName(key, separator); err != nil {
			return nil, err
		}
		if m.array, err = newArray(t); err != nil {
			return nil, &FileError{Op: "write", Name: m.name, Err: err}
		}
		all = append(all, m)
	}
	return all, nil
}

// refuseOthers returns ErrUnsupported with the keys of values that an archive cannot hold.
func refuseOthers(td *tdict.TensorDict) error {
	var all []string
	for key := range td.NestedKeys() {
		v, err := td.Get(key)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case *tensor.Tensor:
			continue
		case *tdict.TensorDict:
			if v.NumEntries() > 0 {
				continue
			}
		}
		all = append(all, fmt.Sprintf("%s: %T", errtext.Quote(string(key)), v))
	}
	if len(all) > 0 {
		return unsupported("got values that are neither tensors nor dictionaries with entries: Exclude %s", strings.Join(all, ", "))
	}
	return nil
}

// memberName returns the name of the member of a key.
func memberName(key nestedkey.Key, separator string) (string, error) {
	var parts []string
	for part := range key.Parts() {
		if strings.Contains(part, separator) {
			return "", unsupported("got key %s, whose part %s has the separator %q: set Separator", errtext.Quote(string(key)), errtext.Quote(part), separator)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, separator) + extension, nil
}

// numpyPerm is the permissions that NumPy gives to members.
const numpyPerm = 0o600

func writeArchive(f zipfile.File, members []member, opt SaveDictOptions) error {
	w := zipfile.NewWriter(f)
	for _, m := range members {
		h := zipfile.Header{Name: m.name, Perm: numpyPerm, Deflate: opt.Compress, Aligned: !opt.Unaligned}
		if err := w.Add(h, m.writeTo); err != nil {
			return fileformat.Failed("write", "", m.name, err)
		}
	}
	return w.Close()
}
