package safetensors

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// indexEnd is the suffix of the name of an index.
const indexEnd = ".index.json"

// A reader reads a file, or a set of files, as a dictionary.
type reader struct {
	path     string
	opt      Options
	index    map[string]string             // the shard of each tensor, by name; nil for a single file
	found    map[string]*safetensors.Entry // tensors of index in open shards, by name
	metadata map[string]string
	items    []item            // all tensors, and the dictionaries with a saved batch shape
	shards   map[string]*shard // open shards, by the name in the index
	files    []*mapfile.Single // of shards
}

// An item is a tensor in a file, or a dictionary with a saved batch shape.
type item struct {
	key   nestedkey.Key
	name  string
	entry *safetensors.Entry // for a tensor in a single file
	shape *layout            // for a dictionary; nil for a tensor
}

// dictionary reads everything but elements.
func (r *reader) dictionary() (*tdict.TensorDict, error) {
	list := r.listFile
	if strings.HasSuffix(r.path, indexEnd) {
		list = r.listSet
	}
	if err := list(); err != nil {
		return nil, err
	}
	saved, err := r.layouts()
	if err != nil {
		return nil, fileformat.Failed("open", r.path, metadataName, err)
	}
	items, err := r.picked()
	if err != nil {
		return nil, err
	}
	entries, err := r.entries(items)
	if err != nil {
		return nil, err
	}
	return r.bundled(entries, saved)
}

// listFile lists the tensors of a single file.
func (r *reader) listFile() error {
	s, err := r.shard("")
	if err != nil {
		return err
	}
	r.metadata = s.head.Metadata
	for i := range s.head.Entries {
		e := &s.head.Entries[i]
		if err := r.list(e.Name, e); err != nil {
			return err
		}
	}
	return nil
}

// list adds a tensor to the items. e is nil for a tensor of a set.
func (r *reader) list(name string, e *safetensors.Entry) error {
	key, err := bundle.Key(name, r.separator())
	r.items = append(r.items, item{key: key, name: name, entry: e})
	return fileformat.Failed("open", r.path, name, err)
}

// separator returns the separator of names, or "" for none.
func (r *reader) separator() string {
	if r.opt.Flat {
		return ""
	}
	return cmp.Or(r.opt.Separator, defaultSeparator)
}

// layouts returns the saved layouts to use, the layout of the outermost dictionary first, and adds
// the others to the items. The others apply only with the separator of the file.
func (r *reader) layouts() ([]layout, error) {
	text, ok := r.metadata[layoutName]
	if !ok || r.opt.Batch != nil || r.opt.BatchDims != 0 {
		return nil, nil
	}
	saved, err := parseLayouts(text)
	if err != nil {
		return nil, err
	}
	if r.separator() != cmp.Or(saved[0].Separator, defaultSeparator) {
		saved = saved[:1]
	}
	for i := range saved[1:] {
		l := &saved[i+1]
		if l.key, err = bundle.Key(l.Name, r.separator()); err != nil {
			return nil, corrupt("%s: %w", layoutName, err)
		}
	}
	if err := r.checkPlaces(saved[1:]); err != nil {
		return nil, err
	}
	for i := range saved[1:] {
		r.items = append(r.items, item{key: saved[i+1].key, shape: &saved[i+1]})
	}
	return saved, nil
}

// checkPlaces returns ErrCorrupt if a layout has the key of a tensor, or a key nested in one.
func (r *reader) checkPlaces(saved []layout) error {
	tensors := make(map[nestedkey.Key]bool, len(r.items))
	for _, it := range r.items {
		tensors[it.key] = true
	}
	for _, l := range saved {
		for k, ok := l.key, true; ok; k, ok = k.Parent() {
			if tensors[k] {
				return corrupt("%s: %s: got a tensor, want a dictionary", layoutName, errtext.Quote(string(k)))
			}
		}
	}
	return nil
}

// picked returns the items to open, and the layouts of the dictionaries that contain them, each
// before the first item in it.
func (r *reader) picked() ([]item, error) {
	slices.SortFunc(r.items, func(a, b item) int { return nestedkey.Compare(a.key, b.key) })
	keys := make([]nestedkey.Key, len(r.items))
	for i, it := range r.items {
		keys[i] = it.key
	}
	at, err := bundle.Select(keys, r.opt.Keys)
	if err != nil {
		return nil, err
	}
	layouts := map[nestedkey.Key]item{} // not picked yet
	for _, it := range r.items {
		if it.shape != nil {
			layouts[it.key] = it
		}
	}
	var items []item
	for _, i := range at {
		it := r.items[i]
		items = append(pickAround(items, it.key, layouts), it)
		delete(layouts, it.key)
	}
	return items, nil
}

// pickAround moves the layouts of the dictionaries that contain key from layouts to the end of
// items, the outermost first.
func pickAround(items []item, key nestedkey.Key, layouts map[nestedkey.Key]item) []item {
	above, ok := key.Parent()
	if !ok || len(layouts) == 0 {
		return items
	}
	items = pickAround(items, above, layouts)
	if it, ok := layouts[above]; ok {
		items = append(items, it)
		delete(layouts, above)
	}
	return items
}

// entries returns items with their values, and the metadata if the options ask for it.
func (r *reader) entries(items []item) ([]bundle.Entry, error) {
	entries := make([]bundle.Entry, 0, len(items)+1)
	for _, it := range items {
		v, err := r.value(it)
		if err != nil {
			return nil, err
		}
		entries = append(entries, bundle.Entry{Key: it.key, Value: v})
	}
	if r.opt.Metadata == "" {
		return entries, nil
	}
	if err := checkFree(items, r.opt.Metadata); err != nil {
		return nil, err
	}
	data, err := tdict.NewData(r.texts())
	if err != nil {
		return nil, err
	}
	data = data.Ops().Fixed() // it cannot be written, as the tensors
	return append(entries, bundle.Entry{Key: r.opt.Metadata, Value: data}), nil
}

// texts returns the metadata without the batch shapes.
func (r *reader) texts() map[string]string {
	texts := map[string]string{}
	for name, text := range r.metadata {
		if name != layoutName {
			texts[name] = text
		}
	}
	return texts
}

// checkFree returns tdict.ErrExists if the key for the metadata conflicts with items.
func checkFree(items []item, metadata nestedkey.Key) error {
	for _, it := range items {
		if it.key.HasPrefix(metadata) || it.shape == nil && metadata.HasPrefix(it.key) {
			return errtext.With(tdict.ErrExists, "Metadata: got %s, but the file has %s: choose another key",
				errtext.Quote(string(metadata)), errtext.Quote(string(it.key)))
		}
	}
	return nil
}

// value returns the value of an item. It does not read elements.
func (r *reader) value(it item) (tdict.Value, error) {
	if it.shape != nil {
		return tdict.New(it.shape.Batch...), nil
	}
	s, err := r.shard(r.index[it.name])
	if err != nil {
		return nil, err
	}
	t, err := s.tensor(cmp.Or(it.entry, r.found[it.name]), r.opt.RawFloat8)
	return t, fileformat.Failed("open", s.path, it.name, err)
}

// bundled returns a dictionary of entries, with the saved batch shape and names, if any.
func (r *reader) bundled(entries []bundle.Entry, saved []layout) (*tdict.TensorDict, error) {
	batch := shapeops.Shape(r.opt.Batch)
	if saved != nil {
		batch = append(shapeops.Shape{}, saved[0].Batch...)
	}
	td, err := bundle.Dict(entries, batch, r.opt.BatchDims)
	if err == nil && saved != nil {
		err = setNames(td, saved)
	}
	if errors.Is(err, tdict.ErrExists) && !r.opt.Flat {
		err = fmt.Errorf("%w: set Flat to keep names whole", err)
	}
	if saved != nil && (errors.Is(err, shapeops.ErrShape) || errors.Is(err, tdict.ErrName)) {
		err = fileformat.Failed("open", r.path, metadataName, corrupt("%w: set Batch or BatchDims to ignore it", err))
	}
	return td, err
}
