package message

import (
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Facts has the nulls and the dictionaries of the columns in all batches of a file.
type Facts struct {
	plan  *plan
	nulls map[*node]bool
	texts map[int64]*union
}

// A union is the texts of a dictionary, each once, in order.
type union struct {
	texts []string
	has   map[string]bool
}

// Nulls reports whether a field has nulls in any batch. path is the number of its column, and then
// of the field in the fields of that, and so on.
func (f *Facts) Nulls(path ...int) bool {
	n := f.plan.at(path)
	return n.stored.ID() == arrow.NULL || f.nulls[n] || n.values != nil && f.nulls[n.values]
}

// Texts returns the texts of the dictionary of a field, each once, in order; nil if the field has
// none, or if no message has it. path is as for Nulls.
func (f *Facts) Texts(path ...int) []string {
	n := f.plan.at(path)
	if u := f.texts[n.id]; n.values != nil && u != nil {
		return u.texts
	}
	return nil
}

// at returns the node of a field.
func (p *plan) at(path []int) *node {
	n := p.columns[path[0]]
	for _, i := range path[1:] {
		if n.values != nil {
			n = n.values
		}
		n = n.kids[i]
	}
	return n
}

// scan begins to collect facts.
func (d *decoder) scan() *Facts {
	f := &Facts{plan: d.plan, nulls: map[*node]bool{}, texts: map[int64]*union{}}
	d.seen = func(n *node, nulls int64) {
		if nulls > 0 {
			f.nulls[n] = true
		}
	}
	return f
}

// add collects the facts of a part, see decoder.dictionary for inMemory and replace.
func (f *Facts) add(d *decoder, p part, inMemory, replace bool) error {
	if p.kind == kindBatch {
		return f.batch(d, p)
	}
	if err := d.dictionary(p, inMemory, replace); err != nil {
		return err
	}
	return f.dictionary(d, p)
}

// batch collects the facts of a batch. Its body is not read.
func (f *Facts) batch(d *decoder, p part) error {
	w, err := d.walk(p.header, p)
	if err != nil {
		return err
	}
	w.skip = true
	for _, n := range d.columns {
		w.array(n, w.rows)
	}
	return w.end(&d.room)
}

// dictionary collects the texts of the dictionary that was just read.
func (f *Facts) dictionary(d *decoder, p part) error {
	id := p.header.num(0, 8)
	parts := d.dicts[id]
	if len(parts) == 0 {
		return nil
	}
	return Try(func() error {
		a := array.MakeFromData(parts[len(parts)-1])
		texts, ok := a.(interface {
			arrow.Array
			Value(i int) string
		})
		if !ok || !isText(a.DataType()) {
			return nil
		}
		if err := array.ValidateFull(a); err != nil {
			return corrupt("%w", err)
		}
		u := f.texts[id]
		if u == nil {
			u = &union{texts: []string{}, has: map[string]bool{}}
			f.texts[id] = u
		}
		for i := range a.Len() {
			if a.IsNull(i) {
				f.nulls[d.values[id]] = true
			} else if text := texts.Value(i); !u.has[text] {
				text = strings.Clone(text)
				u.has[text] = true
				u.texts = append(u.texts, text)
			}
		}
		return nil
	})
}

// isText reports whether values of a type are texts.
func isText(t arrow.DataType) bool {
	return t.ID() == arrow.STRING || t.ID() == arrow.LARGE_STRING || t.ID() == arrow.STRING_VIEW
}

// Facts returns the facts of all batches. It reads dictionaries, and headers of batches. All
// columns are selected.
func (f *File) Facts() (*Facts, error) {
	facts := f.scan()
	defer func() { f.seen = nil }()
	f.at = 0
	f.forget()
	for i := range f.parts {
		p, err := f.part(i)
		if err == nil {
			err = facts.add(f.decoder, p, false, f.stream)
		}
		if err != nil {
			return nil, In(f.opt.Path, p.name, "", err)
		}
	}
	f.at = len(f.parts)
	return facts, nil
}

// Facts reads the stream to its end, and returns the facts of all batches. All columns are
// selected.
func (s *Stream) Facts() (*Facts, error) {
	facts := s.scan()
	for {
		p, err := s.frames.next()
		if err == io.EOF {
			return facts, nil
		}
		if err == nil {
			err = facts.add(s.decoder, p, true, true)
		}
		if err != nil {
			return nil, In(s.opt.Path, p.name, "", err)
		}
	}
}
