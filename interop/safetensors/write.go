package safetensors

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-tensordict/tensordict/internal/bundle"
	"github.com/go-tensordict/tensordict/internal/cast"
	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Write writes to w the same bytes that [SaveWith] writes to a file; it ignores NoSync. Contiguous
// tensors are written without a copy. After an error, a part may have been written. Write returns
// the errors of SaveWith about td, and the errors of w.
func Write(w io.Writer, td tdict.Dictionary, opt SaveOptions) error {
	p, err := newPlan(tdict.Of(td), opt)
	if err == nil {
		err = p.writeTo(w)
	}
	return fileformat.Failed("write", "", "", err)
}

// A plan is a file to be written.
type plan struct {
	opt     SaveOptions
	entries []safetensors.Entry
	leaves  map[string]leaf
	others  []string // keys of leaves that are not tensors
	head    []byte   // the length of the header, and the header
}

// A leaf is a tensor and its key.
type leaf struct {
	key nestedkey.Key
	*tensor.Tensor
}

// newPlan plans a file for td. It does all checks except the checks of elements.
func newPlan(td *tdict.TensorDict, opt SaveOptions) (*plan, error) {
	if !cast.LittleEndian() {
		return nil, fmt.Errorf("%w on a big-endian machine", errors.ErrUnsupported)
	}
	if td == nil {
		return nil, fmt.Errorf("%w: got a nil dictionary", shapeops.ErrKind)
	}
	if !utf8.ValidString(opt.Separator) {
		return nil, unsupported("got the separator %s, want UTF-8", errtext.Quote(opt.Separator))
	}
	p := &plan{opt: opt, leaves: map[string]leaf{}}
	for key, v := range td.Leaves() {
		if err := p.leaf(key, v); err != nil {
			return nil, err
		}
	}
	if len(p.others) > 0 && !opt.SkipOthers {
		return nil, unsupported("got leaves that are not tensors: %s: set SkipOthers to leave them out", strings.Join(p.others, ", "))
	}
	return p, p.place(td)
}

// leaf adds a leaf.
func (p *plan) leaf(key nestedkey.Key, v tdict.Value) error {
	t, ok := v.(*tensor.Tensor)
	if !ok {
		p.others = append(p.others, fmt.Sprintf("%q", string(key)))
		return nil
	}
	name := p.name(key)
	if other, ok := p.leaves[name]; ok {
		return &FileError{Op: "write", Name: name, Err: fmt.Errorf("%w: keys %q and %q have this name", tdict.ErrExists, string(other.key), string(key))}
	}
	dtype, err := spelled(t.DType())
	if err != nil {
		return &FileError{Op: "write", Name: name, Err: err}
	}
	p.leaves[name] = leaf{key, t}
	p.entries = append(p.entries, safetensors.Entry{Name: name, DType: dtype, Shape: t.Shape()})
	return nil
}

// separator returns the separator between the parts of a name.
func (p *plan) separator() string { return cmp.Or(p.opt.Separator, defaultSeparator) }

// name returns the name of a key.
func (p *plan) name(key nestedkey.Key) string {
	return strings.Join(slices.Collect(key.Parts()), p.separator())
}

// begin returns the longest common prefix of the shapes of all tensors, or nil if there are none.
func (p *plan) begin() shapeops.Shape {
	entries := make([]bundle.Entry, 0, len(p.leaves))
	for _, l := range p.leaves {
		entries = append(entries, bundle.Entry{Key: l.key, Value: l.Tensor})
	}
	return bundle.Common(entries, 0)
}

// place assigns the positions of the tensors, and makes the header.
func (p *plan) place(td *tdict.TensorDict) error {
	metadata, err := p.metadata(td)
	if err != nil {
		return fileformat.Failed("write", "", metadataName, err)
	}
	h, head, err := safetensors.Plan(p.entries, metadata)
	if err == nil {
		p.entries, p.head = h.Entries, head
	}
	return err
}

// metadata returns the strings of the header, or nil for none.
func (p *plan) metadata(td *tdict.TensorDict) (map[string]string, error) {
	if _, ok := p.opt.Metadata[layoutName]; ok {
		return nil, unsupported("got the name %q, which is reserved", layoutName)
	}
	text, err := p.layoutText(td)
	if text == "" {
		return p.opt.Metadata, err
	}
	metadata := map[string]string{layoutName: text}
	maps.Copy(metadata, p.opt.Metadata)
	return metadata, nil
}

// smallWrite is the size of the write buffer.
const smallWrite = 64 << 10

// writeTo writes the file.
func (p *plan) writeTo(w io.Writer) error {
	b := bufio.NewWriterSize(w, smallWrite)
	if _, err := b.Write(p.head); err != nil {
		return err
	}
	for _, e := range p.entries {
		if _, err := bundle.Write(b, p.leaves[e.Name].Tensor); err != nil {
			return fileformat.Failed("write", "", e.Name, err)
		}
	}
	return b.Flush()
}
