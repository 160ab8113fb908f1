package inspect

import (
	"context"
	"iter"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
)

// DifferencesOptions say how [Differences] compares. The zero value compares everything exactly,
// with NaN equal to NaN.
type DifferencesOptions struct {
	// Keys selects what is compared; the key of a dictionary selects all in it. Empty means all.
	Keys []nestedkey.Key
	// RTol and ATol are tolerances: a and b count as equal if |a-b| <= ATol + RTol*|b|.
	RTol, ATol float64
	// NaNDiffers makes NaN differ from NaN.
	NaNDiffers bool
	// Most is how many elements a Difference lists; 0 means 3, and less than 0 none.
	Most int
	// TrustSums does not read leaves whose stored checksums prove them equal, as
	// memmap.SameSums says. A checksum tells what was saved, not what lies there now. Without it
	// everything is read.
	TrustSums bool
	// Workers is how many blocks are compared at a time; 0 means GOMAXPROCS.
	Workers int
}

// Differences returns an iterator over the differences between a and b.
func Differences(ctx context.Context, a, b *tdict.TensorDict, opt DifferencesOptions) iter.Seq2[tdict.Difference, error] {
	return func(yield func(tdict.Difference, error) bool) {}
}
