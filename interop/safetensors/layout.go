package safetensors

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

const (
	metadataName     = "__metadata__" // of the field of a header that is not a tensor
	layoutName       = "tensordict"   // of the string in it that is ours
	maxLayouts       = 1 << 20        // bytes of that string
	defaultSeparator = "."
)

// A layout is the batch shape of a dictionary and the names of its dims, for which the format has
// no place.
type layout struct {
	Key   nestedkey.Key `json:"key,omitempty"` // not of the whole, which comes first
	Batch []int         `json:"batch"`
	Names []string      `json:"names,omitempty"` // nil if no dim has one
}

// parseLayouts reads the string of a file.
func parseLayouts(text string) ([]layout, error) {
	if len(text) > maxLayouts {
		return nil, unsupported("%s: got %d bytes, want at most %d", layoutName, len(text), maxLayouts)
	}
	var all []layout
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, corrupt("%s: %w", layoutName, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, corrupt("%s: got more after the layouts, want nothing", layoutName)
	}
	return all, checkLayouts(all)
}

// checkLayouts returns ErrCorrupt unless the layout of the whole comes first, and each key has one.
func checkLayouts(all []layout) error {
	if len(all) == 0 {
		return corrupt("%s: got nothing, want a batch shape", layoutName)
	}
	if all[0].Key != "" {
		return corrupt("%s: got the key %s first, want the whole", layoutName, errtext.Quote(string(all[0].Key)))
	}
	found := map[nestedkey.Key]bool{}
	for i, l := range all {
		if l.Batch == nil || i > 0 && found[l.Key] {
			return corrupt("%s: %s: want one batch shape", layoutName, errtext.Quote(string(l.Key)))
		}
		found[l.Key] = i > 0
		if err := l.Key.Check(); err != nil {
			return corrupt("%s: %w", layoutName, err)
		}
		if err := shapeops.Shape(l.Batch).Check(); err != nil {
			return corrupt("%s: %s: %w", layoutName, errtext.Quote(string(l.Key)), err)
		}
	}
	return nil
}

// layoutText returns the string for a file of td, whose tensors all begin with the shape found. It
// is "" if [Open] makes td of the tensors without it.
func layoutText(td *tdict.TensorDict, found shapeops.Shape) (string, error) {
	all := append([]layout{layoutOf("", td)}, innerLayouts(td)...)
	if len(all) == 1 && all[0].Names == nil && td.Shape().Equal(found) {
		return "", nil
	}
	text, err := json.Marshal(all)
	if err == nil && len(text) > maxLayouts {
		err = unsupported("batch shapes and names of dims of %d dictionaries take %d bytes, want at most %d", len(all), len(text), maxLayouts)
	}
	return string(text), err
}

// innerLayouts returns the layouts of the dictionaries in td, without those that have entries, and
// the batch shape and names of the one around them.
func innerLayouts(td *tdict.TensorDict) []layout {
	var all []layout
	for key := range td.NestedKeys() {
		d := dictAt(td, key)
		if d == nil {
			continue
		}
		around := td
		if above, ok := key.Parent(); ok {
			around = dictAt(td, above)
		}
		if d.NumEntries() == 0 || !d.Shape().Equal(around.Shape()) || !slices.Equal(d.Names(), around.Names()) {
			all = append(all, layoutOf(key, d))
		}
	}
	slices.SortFunc(all, func(a, b layout) int { return nestedkey.Compare(a.Key, b.Key) }) // one text, whatever the order of entries
	return all
}

// dictAt returns the dictionary in td under a key, nil if there is none.
func dictAt(td *tdict.TensorDict, key nestedkey.Key) *tdict.TensorDict {
	v, err := td.Get(key)
	if err != nil {
		return nil
	}
	d, _ := v.(*tdict.TensorDict)
	return d
}

func layoutOf(key nestedkey.Key, td *tdict.TensorDict) layout {
	l := layout{Key: key, Batch: append([]int{}, td.Shape()...), Names: td.Names()}
	if !slices.ContainsFunc(l.Names, func(name string) bool { return name != "" }) {
		l.Names = nil
	}
	return l
}

// setNames gives the dims of td, and of the dictionaries in it, the names that were saved.
func setNames(td *tdict.TensorDict, saved []layout) error {
	if err := td.Unlock(); err != nil {
		return err
	}
	for i, l := range saved {
		d := td
		if i > 0 {
			d = dictAt(td, l.Key)
		}
		if d == nil || l.Names == nil { // it was not wanted, or has no names
			continue
		}
		if err := d.SetNames(l.Names...); err != nil {
			return fmt.Errorf("%q: %w", string(l.Key), err)
		}
	}
	td.Lock(bundle.WhyLocked)
	return nil
}
