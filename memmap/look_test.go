package memmap_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestSameSums(t *testing.T) {
	open := func(name string, opt memmap.OpenOptions) (*tensor.Tensor, *memmap.Dataset) {
		d, err := memmap.OpenWith(name, opt)
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		return tensor.Must(d.Tensor("x")), d
	}
	top := testkit.TempDir(t)
	saved := func(name string, values ...int32) string {
		td := steps()
		td, err := td.Index(ix.At(0))
		require.NoError(t, err)
		require.NoError(t, td.Set("x", tensor.Vector(values...)))
		path := filepath.Join(top, name)
		require.NoError(t, memmap.Save(path, td))
		return path
	}
	a, _ := open(saved("a", 1, 2, 3, 4), memmap.OpenOptions{})
	same, _ := open(saved("same", 1, 2, 3, 4), memmap.OpenOptions{})
	other, _ := open(saved("other", 1, 2, 3, 5), memmap.OpenOptions{})
	writable, _ := open(saved("writable", 1, 2, 3, 4), memmap.OpenOptions{Writable: true})
	zip, _ := open(saved("a.tdz", 1, 2, 3, 4), memmap.OpenOptions{})
	sameZip, _ := open(saved("same.tdz", 1, 2, 3, 4), memmap.OpenOptions{})
	otherZip, _ := open(saved("other.tdz", 1, 2, 3, 5), memmap.OpenOptions{})
	tests := []struct {
		name string
		x, y *tensor.Tensor
		want bool
	}{
		{"itself", a, a, true},
		{"equal", a, same, true},
		{"unequal", a, other, false},
		{"equal archives", zip, sameZip, true},
		{"unequal archives", zip, otherZip, false},
		{"a directory and an archive", a, zip, false},
		{"what may be written", a, writable, false},
		{"in memory", a, tensor.Vector[int32](1, 2, 3, 4), false},
		{"parts", tensor.Must(a.Index(ix.Range(0, 2))), tensor.Must(same.Index(ix.Range(0, 2))), false},
		{"other shapes", tensor.Must(a.Reshape(2, 2)), same, false},
		{"all rows of a leaf", tensor.Must(a.Index(ix.Range(0, 4))), same, true},
		{"none", a, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, memmap.SameSums(tt.x, tt.y))
			require.Equal(t, tt.want, memmap.SameSums(tt.y, tt.x))
		})
	}
}
