package memmap

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestSumsOfWhatIsWrittenMeanwhile has a leaf written while its sums are computed, before or after
// the file is read: by the same Dataset, or by another that is closed again, or that stays open.
func TestSumsOfWhatIsWrittenMeanwhile(t *testing.T) {
	store := func(t *testing.T, d *Dataset, key string, v int64) {
		require.NoError(t, tensor.Must(d.Tensor("x")).SetIndex(tensor.Scalar(v), ix.At(0)))
		if key != "x" {
			require.NoError(t, tensor.Must(d.Tensor("y")).SetIndex(tensor.Scalar(v), ix.At(0)))
		}
	}
	other := func(t *testing.T, dir string) *Dataset {
		d, err := OpenWith(dir, OpenOptions{Writable: true})
		require.NoError(t, err)
		return d
	}
	tests := []struct {
		name string
		do   func(t *testing.T, d *Dataset, dir string)
		void int // leaves without sums when d is flushed; when all are closed there are none
	}{
		{"by nobody", func(*testing.T, *Dataset, string) {}, 0},
		{"by the same", func(t *testing.T, d *Dataset, _ string) { store(t, d, "x", 3) }, 1},
		{"by one that is closed again", func(t *testing.T, _ *Dataset, dir string) {
			o := other(t, dir)
			store(t, o, "x", 4)
			require.NoError(t, o.Close())
		}, 2},
		{"by one that only opens it, and stays", func(t *testing.T, _ *Dataset, dir string) {
			o := other(t, dir)
			t.Cleanup(func() { require.NoError(t, o.Close()) })
		}, 2},
	}
	for _, tt := range tests {
		for _, late := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "d")
				td := tdict.New(3)
				require.NoError(t, td.Set("x", tensor.Vector[int64](0, 0, 0)))
				require.NoError(t, td.Set("y", tensor.Vector[int64](0, 0, 0)))
				require.NoError(t, Save(dir, td))
				d := other(t, dir)
				store(t, d, "both", 2)
				require.NoError(t, d.set.Flush())
				todo, err := d.unsummed()
				require.NoError(t, err)
				require.Len(t, todo, 2)
				if !late {
					tt.do(t, d, dir)
				}
				for _, s := range todo {
					require.NoError(t, s.sum())
				}
				if late {
					tt.do(t, d, dir)
				}
				require.NoError(t, d.storeSums(todo))
				report, err := Verify(context.Background(), dir, VerifyOptions{})
				require.NoError(t, err)
				want := tt.void
				if tt.name == "by the same" && !late { // which is in the sums
					want = 0
				}
				require.Len(t, report.Unsummed, want)
				require.NoError(t, d.Close())
			})
		}
	}
}
