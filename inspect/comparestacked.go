package inspect

import (
	"slices"

	"github.com/go-tensordict/tensordict/tdict"
)

// members compares stacked leaves of equal structure, member by member.
func (c *comparison) members(p pair, a, b *tdict.Stacked) (d tdict.Difference, differ bool, err error) {
	d = tdict.Difference{Kind: tdict.DiffElements, Key: p.key, A: described(a), B: described(b)}
	for i := range a.Len() {
		v, missing := a.Member(i)
		if missing != nil { // missing in both
			continue
		}
		w, err := b.Member(i)
		if err != nil {
			return d, false, err
		}
		rest := *c
		if rest.opt.Most = c.opt.most() - len(d.Elements); rest.opt.Most == 0 {
			rest.opt.Most = -1
		}
		m, differs, err := rest.leaf(pair{p.key, v, w})
		if err != nil {
			return d, false, err
		}
		if !differs {
			continue
		}
		d.Kind, d.Count = m.Kind, d.Count+m.Count
		for _, e := range m.Elements {
			e.Position = slices.Insert(slices.Clone(e.Position), min(a.Dim(), len(e.Position)), i)
			d.Elements = append(d.Elements, e)
		}
	}
	d.Text = elementsText(d)
	return d, d.Count > 0, nil
}

// unlikeMembers returns the first structural difference between stacked leaves, or "".
func unlikeMembers(v, w *tdict.Stacked) tdict.DifferenceKind {
	if v.Dim() != w.Dim() || v.Len() != w.Len() {
		return tdict.DiffShape
	}
	for i := range v.Len() {
		a, none := v.Member(i)
		b, alsoNone := w.Member(i)
		if (none == nil) != (alsoNone == nil) {
			return tdict.DiffShape
		}
		if none != nil {
			continue
		}
		if kind := unlike(a, b); kind != "" {
			return kind
		}
	}
	return ""
}
