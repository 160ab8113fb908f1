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
	metadataName     = "__metadata__" // the field of a header that is not a tensor
	layoutName       = "tensordict"   // the string in it that this package writes
	maxLayouts       = 1 << 20        // largest size of that string in bytes
	defaultSeparator = "."
)

// A layout is the batch shape of a dictionary and the names of its dims, which the format does not
// have.
type layout struct {
	Name      string        `json:"key,omitempty"`       // in the form of names of tensors; "" for the outermost dictionary, which comes first
	Separator string        `json:"separator,omitempty"` // of names, if it is not "."; only in the first layout
	Batch     []int         `json:"batch"`
	Names     []string      `json:"names,omitempty"` // nil if no dim has one
	key       nestedkey.Key // the key of Name
}

// parseLayouts parses the string of a file.
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

// checkLayouts returns ErrCorrupt unless the layout of the outermost dictionary comes first, and
// each name has one layout.
func checkLayouts(all []layout) error {
	if len(all) == 0 {
		return corrupt("%s: got nothing, want a batch shape", layoutName)
	}
	if all[0].Name != "" {
		return corrupt("%s: got the key %s first, want the outermost dictionary", layoutName, errtext.Quote(all[0].Name))
	}
	found := map[string]bool{}
	for i, l := range all {
		if i > 0 && l.Separator != "" {
			return corrupt("%s: %s: got a separator, want it only in the first layout", layoutName, errtext.Quote(l.Name))
		}
		if l.Batch == nil || i > 0 && found[l.Name] {
			return corrupt("%s: %s: want one batch shape", layoutName, errtext.Quote(l.Name))
		}
		found[l.Name] = i > 0
		if err := shapeops.Shape(l.Batch).Check(); err != nil {
			return corrupt("%s: %s: %w", layoutName, errtext.Quote(l.Name), err)
		}
	}
	return nil
}

// layoutText returns the string for a file of td. It is "" if [Open] restores td without it.
func (p *plan) layoutText(td *tdict.TensorDict) (string, error) {
	inner, err := p.innerLayouts(td)
	if err != nil {
		return "", err
	}
	whole := layoutOf(td, nil)
	if len(inner) == 0 && whole.Names == nil && td.Shape().Equal(p.begin()) {
		return "", nil
	}
	if p.separator() != defaultSeparator {
		whole.Separator = p.separator()
	}
	text, err := json.Marshal(append([]layout{whole}, inner...))
	if err == nil && len(text) > maxLayouts {
		err = unsupported("batch shapes and names of dims of %d dictionaries take %d bytes, want at most %d", 1+len(inner), len(text), maxLayouts)
	}
	return string(text), err
}

// innerLayouts returns the layouts of the dictionaries nested in td. It leaves out a dictionary
// with entries that has the batch shape and names of the dictionary that contains it.
func (p *plan) innerLayouts(td *tdict.TensorDict) ([]layout, error) {
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
			l := layoutOf(d, around)
			l.Name = p.name(key)
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	slices.SortFunc(all, func(a, b layout) int { return strings.Compare(a.Name, b.Name) }) // the text must not depend on the order of entries
	return all, p.checkCuts(td)
}

// checkCuts returns ErrUnsupported if a name would be split into another key, so that a layout
// would apply to another dictionary.
func (p *plan) checkCuts(td *tdict.TensorDict) error {
	for key := range td.NestedKeys() {
		cut, err := bundle.Key(p.name(key), p.separator())
		if err == nil && cut != key {
			err = fmt.Errorf("the separator %q splits it as key %q, and nested dictionaries have other batch shapes or names: set another Separator", p.separator(), string(cut))
		}
		if err != nil {
			return &FileError{Op: "write", Name: p.name(key), Err: unsupported("got key %q: %w", string(key), err)}
		}
	}
	return nil
}

// dictAt returns the dictionary in td under a key, or nil if there is none.
func dictAt(td *tdict.TensorDict, key nestedkey.Key) *tdict.TensorDict {
	v, err := td.Get(key)
	if err != nil {
		return nil
	}
	d, _ := v.(*tdict.TensorDict)
	return d
}

// layoutOf returns the layout of td, without a Name. Names is nil if neither td nor around, the
// dictionary that contains it, has names of dims.
func layoutOf(td, around *tdict.TensorDict) layout {
	l := layout{Batch: append([]int{}, td.Shape()...), Names: td.Names()}
	if !hasNames(td) && (around == nil || !hasNames(around)) {
		l.Names = nil
	}
	return l
}

func hasNames(td *tdict.TensorDict) bool {
	return slices.ContainsFunc(td.Names(), func(name string) bool { return name != "" })
}

// setNames sets the saved names of dims in td and in the nested dictionaries.
func setNames(td *tdict.TensorDict, saved []layout) error {
	if err := td.Unlock(); err != nil {
		return err
	}
	for i, l := range saved {
		d := td
		if i > 0 {
			d = dictAt(td, l.key)
		}
		if d == nil || l.Names == nil { // not opened, or without names
			continue
		}
		if err := d.SetNames(l.Names...); err != nil {
			return fmt.Errorf("%q: %w", l.Name, err)
		}
	}
	td.Lock(bundle.WhyLocked)
	return nil
}
