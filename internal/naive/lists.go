package naive

import "slices"

// second takes all lists together. Their dims come where the first of them was if they were
// neighbours, and first if they were not.
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
		for _, l := range o.lists { // ascending: each is inserted where it belongs
			rest = slices.Insert(rest, l.dim, l.take(pos[place:end]))
		}
		return o.a.Get(rest)
	})
}

// broadcast returns the common shape of the lists; it checks their positions too.
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

// take returns the position that l means at a position of what the lists broadcast to.
func (l list) take(pos []int) int {
	pos = slices.Clone(pos[len(pos)-len(l.at.Shape):])
	for i, n := range l.at.Shape {
		pos[i] = min(pos[i], n-1)
	}
	return resolve(l.at.Get(pos), l.over)
}
