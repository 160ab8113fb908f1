package pickstack

// extreme reports whether the entries of a pool that attain a maximum or minimum get its gradient.
func (c *call[E, T, K]) extreme() bool {
	return c.plan.rule.Reduction == Max || c.plan.rule.Reduction == Min
}

// spreadExtreme gives the gradient of a pool to the entries that attain its extreme.
func (w *worker[E, T, K]) spreadExtreme() {
	s := &w.strip
	winners(s, w.at, w.order.below)
	for c, best := range s.best {
		switch {
		case w.lowest <= best && best <= w.highest: // MinValue is greater
		case s.first[c] == s.last[c] || w.plan.rule.Ties == TieFirst:
			s.got[w.at[s.first[c]]+c] += s.g[c]
		default:
			s.share(w.at, c, w.plan.rule.Ties)
		}
	}
}

// winners finds the greatest key of a pool in each channel, and the first and the last entry that
// have it.
func winners[T number, K key](s *strip[T, K], at []int, below K) {
	keys, n := s.keys, len(s.best)
	first, last := s.first[:n], s.last[:n]
	for c := range s.best {
		best, a, z := below, 0, 0
		for j, o := range at {
			k := keys[o+c]
			if k >= best {
				z = j
			}
			if k > best {
				a = j
			}
			best = max(best, k)
		}
		s.best[c], first[c], last[c] = best, a, z
	}
}

// share gives the gradient of one channel of a pool to all entries that have the greatest key.
func (s *strip[T, K]) share(at []int, c int, ties Ties) {
	v, best := s.g[c], s.best[c]
	if ties == TieEven {
		n := 0
		for _, o := range at {
			if s.keys[o+c] == best {
				n++
			}
		}
		v /= T(n)
	}
	for _, o := range at {
		if s.keys[o+c] == best {
			s.got[o+c] += v
		}
	}
}

// raised returns the range of keys of extremes that MinValue is greater than: those of pools whose
// gradient nobody gets.
func (c *call[E, T, K]) raised() (lowest, highest K) {
	if c.plan.rule.MinValue == nil {
		return 1, 0
	}
	if c.plan.rule.Reduction == Min {
		return c.order.key(c.floor) + 1, c.order.nan - 1
	}
	return c.order.below, c.order.key(c.floor) - 1
}
