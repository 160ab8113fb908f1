package pickstack

// extreme reports whether the entries of a pool that attain a maximum or minimum get its gradient.
func (c *call[E, T, K]) extreme() bool {
	return c.plan.rule.Reduction == Max || c.plan.rule.Reduction == Min
}

// A spread does what spreadExtreme does, for extremes whose keys are not from lowest to highest, to
// the first channels. It returns how many those are.
type spread[T number, K key] func(s *strip[T, K], at []int, ties Ties, lowest, highest K) (channels int)

// spreadExtreme gives the gradient of a pool to the entries that attain its extreme, in the
// channels from the first on.
func (w *worker[E, T, K]) spreadExtreme(first int) {
	s, at, ties := &w.strip, w.at, w.plan.rule.Ties
	keys, got, won := s.keys[first:], s.got[first:], s.won[first:]
	findWinners(won, keys, at)
	for c, g := range s.g[first:] {
		won := won[c]
		switch {
		case w.lowest <= won.key && won.key <= w.highest: // MinValue is greater
		case won.first == won.last || ties == TieFirst:
			got[at[won.first]+c] += g
		default:
			share(got[c:], keys[c:], at, won.key, g, ties)
		}
	}
}

// A winner is the greatest key of a pool in a channel, and the first and the last entry that have
// it.
type winner[K key] struct {
	key         K
	first, last int32
}

// findWinners finds the winner of each channel, of keys that begin at the given elements. It is
// written so that it chooses without branches, in registers.
func findWinners[K key](won []winner[K], keys []K, at []int) {
	for c := range won {
		var w winner[K]
		w.key = keys[at[0]+c]
		for i, o := range at {
			k := keys[o+c]
			if k >= w.key {
				w.last = int32(i)
			}
			if k > w.key {
				w.first = int32(i)
			}
			w.key = max(w.key, k)
		}
		won[c] = w
	}
}

// share gives the gradient of a pool in a channel to all entries that have the greatest key.
func share[T number, K key](got []T, keys []K, at []int, best K, g T, ties Ties) {
	if ties == TieEven {
		n := 0
		for _, o := range at {
			if keys[o] == best {
				n++
			}
		}
		g /= T(n)
	}
	for _, o := range at {
		if keys[o] == best {
			got[o] += g
		}
	}
}

// raisedKeys returns the range of the keys of pools that are raised to MinValue: no entry gets
// their gradient.
func (c *call[E, T, K]) raisedKeys() (lowest, highest K) {
	if c.plan.rule.MinValue == nil {
		return 1, 0
	}
	if c.plan.rule.Reduction == Min {
		return c.order.key(c.floor) + 1, c.order.nan - 1
	}
	return c.order.below, c.order.key(c.floor) - 1
}
