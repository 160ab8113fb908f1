package columns

import (
	"cmp"
	"fmt"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
)

// Options say how columns become entries. The zero Options are valid.
type Options struct {
	// Schema has the entries. Nil means the schema of InferFile, or for a stream the stored one, or
	// one with a mask for each column that may have nulls.
	Schema tdict.Schema
	// Keys selects entries, with all that is below them; nil means all.
	Keys []nestedkey.Key
	// Groups are the numbers of the record batches or row groups to read, from 0, in this order;
	// nil means all.
	Groups []int
	// Rows is the largest number of rows of a chunk; 0 means the rows of a batch of the file.
	Rows int
	// MaxMemory is the largest number of bytes that a batch may take in memory; 0 means 1 GiB. What
	// is mapped does not count.
	MaxMemory int64
	// Skip leaves out columns of types that no dtype holds, such as decimals, and calls Note with
	// each. By default they are an error.
	Skip bool
	// Note, if not nil, is called with each fact that may surprise.
	Note func(text string)
}

// MemoryOf returns the limit that Options.MaxMemory says.
func MemoryOf(maxMemory int64) int64 { return cmp.Or(max(0, maxMemory), 1<<30) }

// GroupsOf returns Options.Groups, or the numbers of all n parts of a file if that is nil. It
// returns shapeops.ErrIndex for a number that no part has; noun names a part.
func GroupsOf(groups []int, n int, noun string) ([]int, error) {
	if groups == nil {
		for i := range n {
			groups = append(groups, i)
		}
	}
	for _, g := range groups {
		if g < 0 || g >= n {
			return nil, fmt.Errorf("%w: got %s %d in Groups, want less than %d", shapeops.ErrIndex, noun, g, n)
		}
	}
	return groups, nil
}
