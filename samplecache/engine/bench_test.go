package engine_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/samplecache/engine"
)

// BenchmarkLimits is what a ratio costs each reservation and each batch: the greatest counts that
// it allows, beside those of no ratio.
func BenchmarkLimits(b *testing.B) {
	for _, limits := range []struct {
		name string
		l    engine.Limits
	}{
		{"none", engine.Limits{}},
		{"ratio", engine.Limits{PerInsert: 4, MinSize: 1000, MinDiff: -4000, MaxDiff: 8000}},
	} {
		b.Run("limits="+limits.name+"/of=inserts", func(b *testing.B) {
			for n := int64(0); b.Loop(); n++ {
				limits.l.MaxInserts(n)
			}
		})
		b.Run("limits="+limits.name+"/of=taken", func(b *testing.B) {
			for n := int64(0); b.Loop(); n++ {
				limits.l.MaxTaken(n)
			}
		})
	}
}
