package naive

import "slices"

// second applies all lists together. Their dims replace them where the first of them was if they
// were neighbours; otherwise their dims come first.
func (o *indexer) second() {
	together, ok := o.broadcast()
	if o.ok = ok; !ok {
		return
	}
	place, kept := o.lists[0].dim, []int{}
	for i, l := range o.lists {
		if l.dim != o.lists[0].dim+i {
			place = 0
		}
	}
	for dim, n := range o.a.Shape {
		if !slices.ContainsFunc(o.lists, func(l list) bool { return l.dim == dim }) {
			kept = append(kept, n)
		}
	}
	o.a = Build(slices.Insert(kept, place, together...), func(pos []int) int {
		end := place + len(together)
		rest := slices.Delete(slices.Clone(pos), place, end)
		for _, l := range o.lists { // ascending, so that each is inserted at its position
			rest = slices.Insert(rest, l.dim, l.take(pos[place:end]))
		}
		return o.a.Get(rest)
	})
}

// broadcast returns the common shape of the lists. It also checks their positions.
func (o *indexer) broadcast() (together []int, ok bool) {
	for _, l := range o.lists {
		for len(together) < len(l.at.Shape) {
			together = append(together, 1)
		}
		bad := func(i int) bool { return resolve(i, l.over) < 0 }
		if slices.ContainsFunc(l.at.At, bad) {
			return nil, false
		}
	}
	for _, l := range o.lists {
		for i, n := range l.at.Shape {
			have := &together[len(together)-len(l.at.Shape)+i]
			if n != 1 && *have != 1 && n != *have {
				return nil, false
			}
			if n != 1 {
				*have = n
			}
		}
	}
	return together, true
}

// take returns the element of l at a position of the broadcast shape.
func (l list) take(pos []int) int {
	pos = slices.Clone(pos[len(pos)-len(l.at.Shape):])
	for i, n := range l.at.Shape {
		pos[i] = min(pos[i], n-1)
	}
	return resolve(l.at.Get(pos), l.over)
}
