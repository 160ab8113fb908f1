package picture

import (
	"iter"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
)

// labelNames are the names of labels, the best first.
var labelNames = []string{"label", "target", "class", "y"}

// LabelOf returns which of the keys of scalar leaves is the label of a picture: one named label,
// target, class or y that is nearest. Nearest is the dictionary of the picture, then a dictionary
// in it, beside the picture, then one beside the dictionary of the picture. Among equally near keys
// the order of names decides, then the order of scalars. It reports false if there is no such key.
func LabelOf(key nestedkey.Key, scalars iter.Seq[nestedkey.Key]) (nestedkey.Key, bool) {
	home := above(parts(key))
	var best nestedkey.Key
	rank := -1
	for candidate := range scalars {
		if r := labelRank(home, parts(candidate)); r >= 0 && (rank < 0 || r < rank) && candidate != key {
			best, rank = candidate, r
		}
	}
	return best, rank >= 0
}

// labelRank returns how good a label is, 0 for the best, or -1 if it is not a label for pictures in
// the dictionary home.
func labelRank(home, label []string) int {
	name := slices.Index(labelNames, label[len(label)-1])
	if name < 0 {
		return -1
	}
	in := above(label)
	for distance, same := range [...]bool{
		slices.Equal(in, home),
		len(in) == len(home)+1 && slices.Equal(above(in), home),
		len(in) > 0 && len(in) == len(home) && slices.Equal(above(in), above(home)),
	} {
		if same {
			return distance*len(labelNames) + name
		}
	}
	return -1
}

func parts(key nestedkey.Key) []string { return slices.Collect(key.Parts()) }

func above(parts []string) []string { return parts[:len(parts)-1] }
