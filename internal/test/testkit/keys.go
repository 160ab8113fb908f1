package testkit

import "iter"

// Keys returns the keys that a sequence of keys and values yields, in order. It never returns nil.
func Keys[K, V any](all iter.Seq2[K, V]) []K {
	keys := []K{}
	for key := range all {
		keys = append(keys, key)
	}
	return keys
}
