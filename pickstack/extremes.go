package pickstack

// spreadExtreme distributes the gradient of a pool to the entries that attain its extreme.
func (w *worker[E, T, K]) spreadExtreme() {
	s := &w.strip
	findWinners(s.won, s.keys, w.at, w.order.below)
	got, g, keys := s.dx, s.g, s.keys
	at, lowest, highest, first := w.at, w.lowest, w.highest, w.plan.rule.Ties == TieFirst
	for c, won := range s.won {
		switch {
		case lowest <= won.key && won.key <= highest: // MinValue replaces the extreme
		case won.first == won.last || first:
			got[at[won.first]+c] += g[c]
		default:
			share(got[c:], keys[c:], at, won.key, g[c], w.plan.rule.Ties)
		}
	}
}

// A winner is the greatest key of a pool in a channel, with the first and the last entry that have
// it.
type winner[K key] struct {
	key         K
	first, last int
}

// findWinners finds the winner of each channel. Entry i has the keys from keys[at[i]] on, one for
// each channel, all above below. It must not be inlined: then the compiler uses registers and
// conditional moves instead of branches, which halves the time.
//
//go:noinline
func findWinners[K key](won []winner[K], keys []K, at []int, below K) {
	for c := range won {
		best, first, last := below, 0, 0
		for i, o := range at {
			k := keys[o+c]
			if k >= best {
				last = i
			}
			if k > best {
				first = i
			}
			best = max(best, k)
		}
		won[c] = winner[K]{best, first, last}
	}
}

// share adds the gradient of a pool in a channel to all entries with the greatest key.
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
