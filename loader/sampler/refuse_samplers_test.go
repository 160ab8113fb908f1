package sampler_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// made returns the error of making a sampler.
func made(_ sampler.Sampler, err error) error { return err }

func TestSamplersRefuse(t *testing.T) {
	random := sampler.Random()
	weigh := func(opt sampler.WeightedOptions, w ...float64) error { return made(sampler.Weighted(w, opt)) }
	stratify := func(labels *tensor.Tensor) error {
		return made(sampler.Stratified(labels, sampler.StratifiedOptions{}))
	}
	mix := func(draws int, parts ...sampler.Part) error {
		return made(sampler.Mixture(parts, sampler.MixtureOptions{Draws: draws}))
	}
	once := sampler.WeightedOptions{WithoutReplacement: true, Draws: 3}
	one := sampler.Part{Units: 1, Weight: 1}
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"among: no sampler", made(sampler.Among([]int{1}, nil)), sampler.ErrNil},
		{"among: a negative number", made(sampler.Among([]int{1, -1}, random)), sampler.ErrUnits},
		{"shard: no sampler", made(sampler.Shard(nil, sampler.Share{})), sampler.ErrNil},
		{"shard: no such rank", made(sampler.Shard(random, sampler.Share{Rank: 4, World: 4})), sampler.ErrRank},
		{"shard: a rank without a world", made(sampler.Shard(random, sampler.Share{Rank: 1})), sampler.ErrRank},
		{"shard: a negative rank", made(sampler.Shard(random, sampler.Share{Rank: -1, World: 4})), sampler.ErrRank},
		{"shard: a negative world", made(sampler.Shard(random, sampler.Share{World: -4})), sampler.ErrRank},
		{"weighted: a negative weight", weigh(sampler.WeightedOptions{}, 1, 2, -1), sampler.ErrWeight},
		{"weighted: NaN", weigh(sampler.WeightedOptions{}, 1, math.NaN()), sampler.ErrWeight},
		{"weighted: infinite", weigh(sampler.WeightedOptions{}, math.Inf(1)), sampler.ErrWeight},
		{"weighted: all zero", weigh(sampler.WeightedOptions{}, 0, 0), sampler.ErrWeight},
		{"weighted: none", weigh(sampler.WeightedOptions{}), sampler.ErrWeight},
		{"weighted: too many draws of one each", weigh(once, 1, 2, 0), sampler.ErrWeight},
		{"weighted: negative draws", weigh(sampler.WeightedOptions{Draws: -1}, 1), sampler.ErrSize},
		{"stratified: no labels", stratify(nil), tensor.ErrKind},
		{"stratified: floats", stratify(tensor.Vector(1.5)), tensor.ErrDType},
		{"stratified: a scalar", stratify(tensor.Must(tensor.From([]int32{1}))), shapeops.ErrDim},
		{"stratified: two dims", stratify(tensor.Must(tensor.From([]int32{1, 2}, 2, 1))), shapeops.ErrDim},
		{"stratified: no elements", stratify(tensor.Must(tensor.NewMeta(tensor.Int64, 2))), tensor.ErrMeta},
		{"mixture: no parts", mix(0), sampler.ErrUnits},
		{"mixture: an empty part", mix(0, one, sampler.Part{Weight: 1}), sampler.ErrUnits},
		{"mixture: too many units", mix(0, one, sampler.Part{Units: math.MaxInt, Weight: 1}), sampler.ErrUnits},
		{"mixture: no weight", mix(0, one, sampler.Part{Units: 1}), sampler.ErrWeight},
		{"mixture: too large a cycle", mix(0, one, sampler.Part{Units: 1, Weight: 1 << 24}), sampler.ErrWeight},
		{"mixture: weights that overflow",
			mix(0, sampler.Part{Units: 1, Weight: math.MaxInt}, sampler.Part{Units: 1, Weight: math.MaxInt - 1}), sampler.ErrWeight},
		{"mixture: negative draws", mix(-1, one), sampler.ErrSize},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

func TestOrdersRefuse(t *testing.T) {
	must := tensor.Must[sampler.Sampler]
	mix := func(parts ...sampler.Part) sampler.Sampler {
		return must(sampler.Mixture(parts, sampler.MixtureOptions{}))
	}
	stuck := must(sampler.Among(nil, sampler.Random()))
	weighted := must(sampler.Weighted([]float64{1, 2}, sampler.WeightedOptions{}))
	tests := []struct {
		name string
		s    sampler.Sampler
		want error
	}{
		{"among: no such unit", must(sampler.Among([]int{1, 10}, sampler.Random())), sampler.ErrUnits},
		{"among: the inner sampler", must(sampler.Among([]int{1, 2, 3}, weighted)), sampler.ErrUnits},
		{"endless: no sampler", sampler.Endless(nil), sampler.ErrNil},
		{"endless: nothing to repeat", sampler.Endless(stuck), sampler.ErrUnits},
		{"endless: passes of different lengths", sampler.Endless(broken{3, 4}), sampler.ErrUnits},
		{"endless: no second pass", sampler.Endless(broken{3, -1}), sampler.ErrUnits},
		{"endless: no first pass", sampler.Endless(broken{-1}), sampler.ErrUnits},
		{"weighted: another number of units", weighted, sampler.ErrUnits},
		{"once: another number of units",
			must(sampler.Weighted([]float64{1}, sampler.WeightedOptions{WithoutReplacement: true})), sampler.ErrUnits},
		{"stratified: another number of units",
			must(sampler.Stratified(tensor.Vector(true, false), sampler.StratifiedOptions{})), sampler.ErrUnits},
		{"mixture: another number of units", mix(sampler.Part{Units: 9, Weight: 1}), sampler.ErrUnits},
		{"mixture: nothing to repeat", mix(sampler.Part{Units: 10, Weight: 1, Sampler: stuck}), sampler.ErrUnits},
		{"mixture: the inner sampler", mix(sampler.Part{Units: 10, Weight: 1, Sampler: weighted}), sampler.ErrUnits},
		{"shard: the inner sampler", must(sampler.Shard(weighted, sampler.Share{World: 2})), sampler.ErrUnits},
		{"blocks: a negative block", sampler.Blocks(sampler.BlockOptions{BlockBytes: -1}), sampler.ErrSize},
		{"blocks: a negative window", sampler.Blocks(sampler.BlockOptions{WindowBytes: -1}), sampler.ErrSize},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o, err := tt.s.Order(epoch(10, 1, 0))
			require.Nil(t, o)
			testkit.Fails(t, tt.want, err)
		})
	}
}

func TestBlocksRefuseUnits(t *testing.T) {
	for name, size := range map[string]int{"unknown": 0, "negative": -1} {
		t.Run(name, func(t *testing.T) {
			testkit.Fails(t, sampler.ErrSize,
				testkit.Err(sampler.Blocks(sampler.BlockOptions{}).Order(sampler.Epoch{Units: 10, UnitBytes: size})))
		})
	}
}
