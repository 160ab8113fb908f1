package sampler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// naiveGroups returns the rows of each group, and its id, found with a map.
func naiveGroups(ids []int64, apart sampler.Apart) (rows [][]int, keys []int64) {
	of := map[int64]int{}
	for row, id := range ids {
		group, seen := of[id]
		if !seen || apart == sampler.SeparateApart && ids[row-1] != id {
			group = len(rows)
			of[id] = group
			rows, keys = append(rows, nil), append(keys, id)
		}
		rows[group] = append(rows[group], row)
	}
	return rows, keys
}

// naiveBatches returns the units of each batch of a whole order.
func naiveBatches(rows [][]int, order []int, opt sampler.GroupBatchOptions) [][]int {
	batches, open, held := [][]int{}, []int{}, 0
	end := func() { batches, open, held = append(batches, open), nil, 0 }
	for _, unit := range order {
		size := len(rows[unit%len(rows)])
		if opt.MaxRows > 0 && held+size > opt.MaxRows {
			end()
		}
		open, held = append(open, unit), held+size
		if len(open) == opt.Groups || held == opt.MaxRows {
			end()
		}
	}
	if len(open) > 0 && !opt.DropLast {
		end()
	}
	return batches
}

// A fixedOrder is an order of any numbers.
type fixedOrder []int

func (o fixedOrder) Len() int { return len(o) }

func (o fixedOrder) AppendTo(dst []int, start, stop int) []int { return append(dst, o[start:stop]...) }

// An infiniteOrder is unit 0 and its repetitions, of so many units.
type infiniteOrder int

func (infiniteOrder) Len() int { return sampler.NoEnd }

func (n infiniteOrder) AppendTo(dst []int, start, stop int) []int {
	for position := start; position < stop; position++ {
		dst = append(dst, position*int(n))
	}
	return dst
}

// whole returns all of an order.
func whole(o sampler.Order) []int { return o.AppendTo([]int{}, 0, o.Len()) }

// rowsOf returns the rows of all batches of groups.
func rowsOf(t testing.TB, groups *sampler.Groups, opt sampler.GroupBatchOptions, order sampler.Order) []int {
	t.Helper()
	plan := tensor.Must(tensor.Must(groups.Batches(opt)).Plan(order, 0))
	all := []int{}
	for k := range plan.Len() {
		all = append(all, plan.Batch(k, sampler.Batch{}).Rows...)
	}
	return all
}

// checkGroupPlan compares the batches of an order with naive ones. They are made in the memory of
// each other.
func checkGroupPlan(t testing.TB, groups *sampler.Groups, rows [][]int, opt sampler.GroupBatchOptions, order sampler.Order) {
	t.Helper()
	n := 0
	for _, group := range rows {
		n += len(group)
	}
	batching, err := groups.Batches(opt)
	require.NoError(t, err)
	units, err := batching.Units(n)
	require.NoError(t, err)
	require.Equal(t, len(rows), units)
	plan, err := batching.Plan(order, n)
	require.NoError(t, err)
	want := naiveBatches(rows, whole(order), opt)
	require.Equal(t, len(want), plan.Len(), "%+v", opt)
	got := sampler.Batch{Rows: []int{9, 9, 9, 9, 9}, Splits: []int64{7, 7}}
	for k, batch := range want {
		got = plan.Batch(k, got)
		require.Len(t, got.Splits, len(batch)+1)
		require.Zero(t, got.Splits[0])
		require.Len(t, got.Rows, int(got.Splits[len(batch)]))
		for g, unit := range batch {
			group := slices.Clone(rows[unit%len(rows)])
			for i := range group {
				group[i] += unit / len(rows) * n
			}
			require.Equal(t, group, got.Rows[got.Splits[g]:got.Splits[g+1]])
		}
		if got.Run {
			for i, row := range got.Rows {
				require.Equal(t, got.Rows[0]+i, row)
			}
		}
	}
}

// randomGroups returns ids of n rows in at most so many groups, in runs of up to so many rows.
func randomGroups(r *rand.Rand, n, groups, run int) []int64 {
	ids := make([]int64, 0, n)
	for len(ids) < n {
		id := r.Int64N(int64(groups)) - 3
		for range min(1+r.IntN(run), n-len(ids)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestGroupsAreNaive compares groups, and batches of them in several orders, with what maps find.
func TestGroupsAreNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	checkGroups(t, randomGroups(r, 5000, 1<<40, 3), sampler.GatherApart)
	for _, n := range []int{0, 1, 2, 9, 200} {
		for _, many := range []int{1, 3, 1000} {
			for _, run := range []int{1, 5} {
				for _, sorted := range []bool{false, true} {
					ids := randomGroups(r, n, many, run)
					if sorted {
						slices.Sort(ids)
					}
					for _, apart := range []sampler.Apart{sampler.GatherApart, sampler.SeparateApart} {
						checkGroups(t, ids, apart)
					}
				}
			}
		}
	}
}

func checkGroups(t *testing.T, ids []int64, apart sampler.Apart) {
	t.Helper()
	groups, err := sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{Apart: apart})
	require.NoError(t, err)
	rows, _ := naiveGroups(ids, apart)
	firsts, sizes, longest := []int{}, []int{}, 0
	for _, group := range rows {
		firsts, sizes, longest = append(firsts, group[0]), append(sizes, len(group)), max(longest, len(group))
	}
	require.Equal(t, len(rows), groups.Len())
	require.Equal(t, firsts, groups.Firsts())
	require.Equal(t, sizes, groups.Sizes())
	orders := []sampler.Order{
		tensor.Must(sampler.Sequential().Order(sampler.Epoch{Units: len(rows)})),
		tensor.Must(sampler.Random().Order(sampler.Epoch{Units: len(rows), Seed: 5})),
	}
	if g := len(rows); g > 0 {
		orders = append(orders, fixedOrder{g - 1, g - 1, 2*g - 1, 5 * g, 0})
	}
	for _, order := range orders {
		for _, opt := range []sampler.GroupBatchOptions{
			{Groups: 1}, {Groups: 3}, {Groups: 3, DropLast: true}, {Groups: math.MaxInt},
			{MaxRows: longest + 1}, {MaxRows: longest + 1, DropLast: true}, {MaxRows: math.MaxInt32},
			{Groups: 2, MaxRows: 2*longest + 1}, {Groups: 2, MaxRows: longest + 1, DropLast: true},
		} {
			checkGroupPlan(t, groups, rows, opt, order)
		}
	}
}

// TestGroupsOfEveryDType takes ids of every dtype, layout and memory.
func TestGroupsOfEveryDType(t *testing.T) {
	for i, d := range tensor.DTypes() {
		t.Run(d.String(), func(t *testing.T) {
			for k, n := range []int{0, 1, 7, 300} {
				for j, layout := range testkit.Layouts {
					s := testkit.Make(t, d, []int{n}, layout, testkit.Memories[(i+j+k)%4], 0)
					if !d.IsInteger() && d != tensor.Bool {
						require.ErrorIs(t, testkit.Err(sampler.NewGroups(s.Tensor, sampler.GroupOptions{})), tensor.ErrDType)
						continue
					}
					groups, err := sampler.NewGroups(s.Tensor, sampler.GroupOptions{})
					require.NoError(t, err)
					want, _ := naiveGroups(testkit.Elements[int64](t, tensor.Must(s.Cast(tensor.Int64))), sampler.GatherApart)
					checkGroupPlan(t, groups, want, sampler.GroupBatchOptions{Groups: 2}, tensor.Must(sampler.Random().Order(sampler.Epoch{Units: len(want)})))
				}
			}
		})
	}
	large := tensor.Vector[uint64](math.MaxUint64, math.MaxUint64-1, math.MaxInt64, math.MaxUint64)
	require.Equal(t, []int{2, 1, 1}, tensor.Must(sampler.NewGroups(large, sampler.GroupOptions{})).Sizes())
}

// TestOriginalGroupBatches is M25: rows, ids and labels of batches of two groups in FNV order.
func TestOriginalGroupBatches(t *testing.T) {
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(g2...), sampler.GroupOptions{}))
	plan := tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 2}))
	for _, seed := range []uint64{2, 42} {
		t.Run(fmt.Sprintf("M25 seed %d", seed), func(t *testing.T) {
			order := tensor.Must(groups.FNV().Order(sampler.Epoch{Units: 3, Seed: seed}))
			p := tensor.Must(plan.Plan(order, 9))
			require.Equal(t, 2, p.Len())
			first, second := p.Batch(0, sampler.Batch{}), p.Batch(1, sampler.Batch{})
			require.Equal(t, sampler.Batch{Rows: []int{3, 4, 0, 1, 2}, Splits: []int64{0, 2, 5}}, first)
			require.Equal(t, sampler.Batch{Rows: []int{5, 6, 7, 8}, Splits: []int64{0, 4}}, second)
			require.Equal(t, []int64{1, 1, 8, 8, 8}, taken(t, g2, first.Rows))
			require.Equal(t, []int64{1, 0, 0, 1, 0}, taken(t, []int64{0, 1, 0, 1, 0, 1, 0, 1, 0}, first.Rows))
			require.Equal(t, []int64{1, 0, 1, 0}, taken(t, []int64{0, 1, 0, 1, 0, 1, 0, 1, 0}, second.Rows))
		})
	}
}

// taken returns the rows of a column.
func taken(t testing.TB, column []int64, rows []int) []int64 {
	x, err := tensor.Vector(column...).Index(ix.Take(rows...))
	require.NoError(t, err)
	return testkit.Elements[int64](t, x)
}

func TestGroupBatches(t *testing.T) {
	tests := []struct {
		name   string
		ids    []int64
		apart  sampler.Apart
		opt    sampler.GroupBatchOptions
		rows   [][]int
		splits [][]int64
	}{
		{"groups apart are gathered where the first row is", []int64{8, 1, 8, 7, 1}, sampler.GatherApart, sampler.GroupBatchOptions{Groups: 2},
			[][]int{{0, 2, 1, 4}, {3}}, [][]int64{{0, 2, 4}, {0, 1}}},
		{"or each run is a group", []int64{8, 8, 1, 8}, sampler.SeparateApart, sampler.GroupBatchOptions{Groups: 1},
			[][]int{{0, 1}, {2}, {3}}, [][]int64{{0, 2}, {0, 1}, {0, 1}}},
		{"together is not apart", []int64{8, 8, 1}, sampler.RefuseApart, sampler.GroupBatchOptions{Groups: 1},
			[][]int{{0, 1}, {2}}, [][]int64{{0, 2}, {0, 1}}},
		{"as many groups as go into so many rows", []int64{1, 1, 2, 3, 3, 4}, sampler.GatherApart, sampler.GroupBatchOptions{MaxRows: 3},
			[][]int{{0, 1, 2}, {3, 4, 5}}, [][]int64{{0, 2, 3}, {0, 2, 3}}},
		{"a group that does not go in begins a batch", []int64{1, 1, 2, 2, 3}, sampler.GatherApart, sampler.GroupBatchOptions{MaxRows: 3},
			[][]int{{0, 1}, {2, 3, 4}}, [][]int64{{0, 2}, {0, 2, 3}}},
		{"groups are reached first", []int64{1, 2, 3, 3, 4}, sampler.GatherApart, sampler.GroupBatchOptions{Groups: 2, MaxRows: 3},
			[][]int{{0, 1}, {2, 3, 4}}, [][]int64{{0, 1, 2}, {0, 2, 3}}},
		{"DropLast leaves out a batch that more rows could have joined", []int64{1, 1, 2, 2, 3}, sampler.GatherApart, sampler.GroupBatchOptions{MaxRows: 2, DropLast: true},
			[][]int{{0, 1}, {2, 3}}, [][]int64{{0, 2}, {0, 2}}},
		{"DropLast keeps a last batch of all rows", []int64{1, 2, 2}, sampler.GatherApart, sampler.GroupBatchOptions{MaxRows: 2, DropLast: true},
			[][]int{{0}, {1, 2}}, [][]int64{{0, 1}, {0, 2}}},
		{"DropLast keeps a last batch of all groups", []int64{1, 2, 2}, sampler.GatherApart, sampler.GroupBatchOptions{Groups: 2, MaxRows: 9, DropLast: true},
			[][]int{{0, 1, 2}}, [][]int64{{0, 1, 3}}},
		{"no rows", nil, sampler.GatherApart, sampler.GroupBatchOptions{MaxRows: 2}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			groups, err := sampler.NewGroups(tensor.Vector(tt.ids...), sampler.GroupOptions{Apart: tt.apart})
			require.NoError(t, err)
			order := tensor.Must(sampler.Sequential().Order(sampler.Epoch{Units: groups.Len()}))
			plan, err := tensor.Must(groups.Batches(tt.opt)).Plan(order, len(tt.ids))
			require.NoError(t, err)
			require.Equal(t, len(tt.rows), plan.Len())
			for k := range plan.Len() {
				got := plan.Batch(k, sampler.Batch{})
				require.Equal(t, tt.rows[k], got.Rows)
				require.Equal(t, tt.splits[k], got.Splits)
			}
		})
	}
}

// TestGroupBatchesMayBeViews only where groups lie together and are in their order.
func TestGroupBatchesMayBeViews(t *testing.T) {
	tests := []struct {
		name  string
		ids   []int64
		order sampler.Sampler
		want  bool
	}{
		{"consecutive ids in their order", g2, sampler.Sequential(), true},
		{"in a random order", g2, sampler.Random(), false},
		{"gathered", []int64{8, 1, 8}, sampler.Sequential(), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			groups := tensor.Must(sampler.NewGroups(tensor.Vector(tt.ids...), sampler.GroupOptions{}))
			order := tensor.Must(tt.order.Order(sampler.Epoch{Units: groups.Len()}))
			for _, opt := range []sampler.GroupBatchOptions{{Groups: 2}, {MaxRows: 5}} {
				plan := tensor.Must(tensor.Must(groups.Batches(opt)).Plan(order, len(tt.ids)))
				require.Equal(t, tt.want, plan.Batch(0, sampler.Batch{}).Run)
			}
		})
	}
}

// TestEndlessGroups: any batch of an order that goes on for ever, repetitions being rows + k*N.
func TestEndlessGroups(t *testing.T) {
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(g2...), sampler.GroupOptions{}))
	plan, err := tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 2, DropLast: true})).Plan(infiniteOrder(3), 9)
	require.NoError(t, err)
	require.Equal(t, sampler.NoEnd, plan.Len())
	got := plan.Batch(1_000_000, sampler.Batch{})
	base := 2_000_000 * 9
	require.Equal(t, []int{base, base + 1, base + 2, base + 9, base + 10, base + 11}, got.Rows)
	require.Equal(t, []int64{0, 3, 6}, got.Splits)
}

func TestGroupsRefuse(t *testing.T) {
	groups := func(opt sampler.GroupOptions, ids ...int64) *sampler.Groups {
		return tensor.Must(sampler.NewGroups(tensor.Vector(ids...), opt))
	}
	of := func(ids *tensor.Tensor, apart sampler.Apart) error {
		return testkit.Err(sampler.NewGroups(ids, sampler.GroupOptions{Apart: apart}))
	}
	batches := func(opt sampler.GroupBatchOptions) error {
		return testkit.Err(groups(sampler.GroupOptions{}, g2...).Batches(opt))
	}
	tests := []struct {
		name string
		err  error
		is   error
	}{
		{"nil", of(nil, 0), tensor.ErrKind},
		{"floats", of(tensor.Vector(1.0), 0), tensor.ErrDType},
		{"no dtype", of(tensor.Must(new(tensor.Tensor).Reshape(1)), 0), tensor.ErrDType},
		{"a scalar", of(tensor.Scalar[int64](1), 0), shapeops.ErrDim},
		{"two dims", of(tensor.Must(tensor.Zeros[int64](2, 3)), 0), shapeops.ErrDim},
		{"a bool that is neither 0 nor 1", of(tensor.Must(tensor.FromBytes(tensor.Bool, []byte{0, 2}, 2)), 0), tensor.ErrDType},
		{"memory that is gone", of(tensor.Must(tensor.FromLender(tensor.Int64, &testkit.Lender{Fail: tensor.ErrReadOnly}, 0, 1)), 0), tensor.ErrReadOnly},
		{"no such constant", of(tensor.Vector[int64](1), 3), sampler.ErrSize},
		{"apart", of(tensor.Vector[int32](4, -7, -7, 5, -7), sampler.RefuseApart), sampler.ErrApart},
		{"apart, of large ids", of(tensor.Vector[uint64](math.MaxUint64, 0, math.MaxUint64), sampler.RefuseApart), sampler.ErrApart},
		{"no bound", batches(sampler.GroupBatchOptions{DropLast: true}), sampler.ErrSize},
		{"a negative bound of groups", batches(sampler.GroupBatchOptions{Groups: -1, MaxRows: 5}), sampler.ErrSize},
		{"a negative bound of rows", batches(sampler.GroupBatchOptions{Groups: 1, MaxRows: -5}), sampler.ErrSize},
		{"a group that is too long", batches(sampler.GroupBatchOptions{MaxRows: 3}), sampler.ErrTooLong},
		{"an endless order packed by rows", testkit.Err(tensor.Must(groups(sampler.GroupOptions{}, g2...).Batches(sampler.GroupBatchOptions{MaxRows: 4})).Plan(infiniteOrder(3), 9)), sampler.ErrSize},
		{"another number of rows", testkit.Err(tensor.Must(groups(sampler.GroupOptions{}, g2...).Batches(sampler.GroupBatchOptions{Groups: 1})).Units(3)), sampler.ErrUnits},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.is, tt.err) })
	}
	meta := tensor.Must(tensor.NewMeta(tensor.Int64, 2))
	require.ErrorIs(t, of(meta, 0), tensor.ErrMeta)
}

// TestGroupBatchesSayAll: batchings that differ in anything have other descriptions.
func TestGroupBatchesSayAll(t *testing.T) {
	said := map[string]bool{}
	all := [][]int64{g1, g2, {8, 1, 8, 7, 1}, {8, 1, 7, 8, 1}, {}}
	options := []sampler.GroupBatchOptions{{Groups: 4}, {Groups: 5}, {MaxRows: 4}, {MaxRows: 5}, {Groups: 4, MaxRows: 4}, {Groups: 4, DropLast: true}}
	for _, ids := range all {
		for _, opt := range options {
			groups := tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{}))
			said[tensor.Must(groups.Batches(opt)).String()] = true
		}
	}
	require.Len(t, said, len(all)*len(options))
	groups := tensor.Must(sampler.NewGroups(tensor.Vector(g2...), sampler.GroupOptions{}))
	text := tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 4, MaxRows: 6, DropLast: true})).String()
	require.Equal(t, "batches of 4 groups of at most 6 rows, incomplete ones left out: 3 groups of 9 rows 9f21b51a9303f732 0000000000000000", text)
}

// TestGroupsLetGo: what is given is not kept, and what is returned is a copy.
func TestGroupsLetGo(t *testing.T) {
	ids := slices.Clone(g2)
	groups := tensor.Must(sampler.NewGroups(tensor.Must(tensor.From(ids, len(ids))), sampler.GroupOptions{}))
	before := tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})).String()
	clear(ids)
	clear(groups.Firsts())
	clear(groups.Sizes())
	require.Equal(t, before, tensor.Must(groups.Batches(sampler.GroupBatchOptions{Groups: 1})).String())
	require.Equal(t, []int{3, 2, 4}, groups.Sizes())
	require.Equal(t, []int{0, 3, 5}, groups.Firsts())
}

// FuzzGroups compares groups and their batches with naive ones.
func FuzzGroups(f *testing.F) {
	f.Add([]byte{1, 1, 2, 1}, uint64(1), uint8(2), uint8(0), uint8(0))
	f.Add([]byte{5, 5, 5, 8, 8, 1}, uint64(2), uint8(0), uint8(4), uint8(3))
	f.Add([]byte{}, uint64(3), uint8(1), uint8(1), uint8(7))
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64, groupsMax, rowsMax, how uint8) {
		ids := make([]int64, min(len(raw), 500))
		for i := range ids {
			ids[i] = int64(int8(raw[i]))
		}
		apart := sampler.Apart(how % 2)
		groups := tensor.Must(sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{Apart: apart}))
		rows, _ := naiveGroups(ids, apart)
		gathered, _ := naiveGroups(ids, sampler.GatherApart)
		runs, _ := naiveGroups(ids, sampler.SeparateApart)
		_, err := sampler.NewGroups(tensor.Vector(ids...), sampler.GroupOptions{Apart: sampler.RefuseApart})
		if len(gathered) == len(runs) {
			require.NoError(t, err)
		} else {
			require.ErrorIs(t, err, sampler.ErrApart)
		}
		opt := sampler.GroupBatchOptions{Groups: int(groupsMax), MaxRows: int(rowsMax), DropLast: how&2 > 0}
		if opt.Groups+opt.MaxRows == 0 {
			require.ErrorIs(t, testkit.Err(groups.Batches(opt)), sampler.ErrSize)
			return
		}
		if opt.MaxRows > 0 && slices.Max(append(groups.Sizes(), 0)) > opt.MaxRows {
			require.ErrorIs(t, testkit.Err(groups.Batches(opt)), sampler.ErrTooLong)
			return
		}
		samplers := []sampler.Sampler{sampler.Sequential(), sampler.Random(), groups.FNV()}
		order := tensor.Must(samplers[int(how>>2)%3].Order(sampler.Epoch{Units: len(rows), Seed: seed}))
		checkGroupPlan(t, groups, rows, opt, order)
	})
}
