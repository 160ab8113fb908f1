package shelf

import (
	"slices"
	"strings"
)

// Search returns the leaves and dictionaries whose keys have every word of a text, upper and lower
// case alike. The best are first: the last part of the key equals the first word, begins with it,
// contains it, the key contains it elsewhere. Equally good ones are in the order of the data. A
// text without words finds nothing.
func (x *Index) Search(text string) []int {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return nil
	}
	var ranks [4][]int
	for i := range x.Nodes[1:] {
		n := &x.Nodes[i+1]
		if n.IsMask {
			continue
		}
		if rank, ok := rank(strings.ToLower(string(n.Key)), words); ok {
			ranks[rank] = append(ranks[rank], n.At)
		}
	}
	return slices.Concat(ranks[:]...)
}

// rank returns how well a key fits, 0 is best; ok is false if it lacks a word.
func rank(key string, words []string) (r int, ok bool) {
	for _, word := range words {
		if !strings.Contains(key, word) {
			return 0, false
		}
	}
	last := key[strings.LastIndexByte(key, '/')+1:]
	switch {
	case last == words[0]:
		return 0, true
	case strings.HasPrefix(last, words[0]):
		return 1, true
	case strings.Contains(last, words[0]):
		return 2, true
	}
	return 3, true
}
