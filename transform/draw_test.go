package transform_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/transform"
)

// drawn returns the first number of each row.
func drawn(t *testing.T, rows int, d transform.Draw) []uint64 {
	t.Helper()
	out := make([]uint64, rows)
	require.NoError(t, d.Each(tdict.New(rows), func(i int, r *rand.Rand) { out[i] = r.Uint64() }))
	return out
}

// TestDrawIsStable: these are the numbers of the first version.
func TestDrawIsStable(t *testing.T) {
	tests := []struct {
		name string
		d    transform.Draw
		want []uint64
	}{
		{"zero", transform.Draw{}, []uint64{0xf06edd0192885001, 0x3e0a5103d003cb6d, 0x17d7e717e18d4609}},
		{"all set", transform.Draw{Seed: 1, Epoch: 2, Rows: []int{40, 3, 1 << 40}}.Step(0).Step(5),
			[]uint64{0xa73512eca1662862, 0xd0ed23153615e7de, 0xf17096be87667b9b}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := drawn(t, len(tt.want), tt.d); !slices.Equal(got, tt.want) {
				t.Errorf("got %#x, want %#x", got, tt.want)
			}
		})
	}
}

// TestDrawIsWhatItSays derives numbers as the comment of Draw says.
func TestDrawIsWhatItSays(t *testing.T) {
	mix := func(h, x uint64) uint64 {
		z := h + x + 0x9e3779b97f4a7c15
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		return z ^ (z >> 31)
	}
	d := transform.Draw{Seed: 7, Epoch: 3, Rows: []int{11}}.Step(2).Step(4)
	h := mix(mix(mix(mix(0, 7), 3), mix(mix(0, 2), 4)), 11)
	want := rand.New(rand.NewPCG(h, mix(h, 11))).Uint64()
	require.Equal(t, []uint64{want}, drawn(t, 1, d))
}

// TestDrawDependsOnEachPart: none may be ignored, or be taken for another.
func TestDrawDependsOnEachPart(t *testing.T) {
	seen := map[uint64]transform.Draw{}
	for i := range 4096 {
		d := transform.Draw{Seed: uint64(i & 7), Epoch: uint64(i >> 3 & 7), Rows: []int{i >> 6 & 7}}
		if step := i >> 9; step > 0 {
			d = d.Step(step - 1)
		}
		x := drawn(t, 1, d)[0]
		if other, ok := seen[x]; ok {
			t.Fatalf("%+v and %+v draw the same", d, other)
		}
		seen[x] = d
	}
}

// TestDrawIsUniform: each bit is set in half of neighbouring rows, epochs, seeds or steps, and
// changes between half of them.
func TestDrawIsUniform(t *testing.T) {
	const n = 1 << 14
	for name, d := range map[string]func(i int) transform.Draw{
		"rows":   func(i int) transform.Draw { return transform.Draw{Rows: []int{i}} },
		"epochs": func(i int) transform.Draw { return transform.Draw{Epoch: uint64(i)} },
		"seeds":  func(i int) transform.Draw { return transform.Draw{Seed: uint64(i)} },
		"steps":  func(i int) transform.Draw { return transform.Draw{}.Step(i) },
	} {
		var set, changed [64]int
		last := uint64(0)
		for i := range n {
			x := drawn(t, 1, d(i))[0]
			for bit := range set {
				set[bit] += int(x >> bit & 1)
				changed[bit] += int((x ^ last) >> bit & 1)
			}
			last = x
		}
		for bit := range set {
			for _, count := range []int{set[bit], changed[bit]} {
				if count < n/2-400 || count > n/2+400 { // six deviations
					t.Errorf("%s: bit %d: %d of %d", name, bit, count, n)
				}
			}
		}
	}
}

func TestEachAllocatesNoMoreForManyRows(t *testing.T) {
	each := func(rows int) func() {
		td := tdict.New(rows)
		return func() { _ = transform.Draw{}.Each(td, func(int, *rand.Rand) {}) }
	}
	few, many := testing.AllocsPerRun(10, each(1)), testing.AllocsPerRun(10, each(100_000))
	if many > few {
		t.Errorf("got %v allocations for many rows, want the %v for one", many, few)
	}
}

func TestDrawRefuses(t *testing.T) {
	nothing := func(int, *rand.Rand) { t.Error("called") }
	tests := []struct {
		name string
		err  error
		is   error
	}{
		{"no dictionary", transform.Draw{}.Each(nil, nothing), tdict.ErrKind},
		{"no rows", transform.Draw{}.Each(tdict.New(), nothing), shapeops.ErrDim},
		{"too few numbers", transform.Draw{Rows: []int{1}}.Each(tdict.New(2), nothing), shapeops.ErrShape},
		{"numbers for no row", transform.Draw{Rows: []int{}}.Each(tdict.New(2), nothing), shapeops.ErrShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.err) })
	}
}
