package sampler

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-tensordict/tensordict/internal/splitmix"
	"github.com/go-tensordict/tensordict/tensor"
)

// Split divides n rows at random into parts of the given sizes, such as a training and a test set,
// and returns the rows of each part in ascending order:
//
//	Split(100, []int{80, 20}, 1)             // 80 rows and 20 rows
//	Split(100, []float64{0.8, 0.1, 0.1}, 1)  // 80, 10 and 10 rows
//
// Sizes of type int are numbers of rows, which add up to n. Sizes of type float64 are fractions of
// n, which add up to 1 within 1e-9. A fraction f makes a part of floor(n*f) rows; the remaining
// rows go to the first parts, one each, as in torch.utils.data.random_split. Parts may be empty.
//
// The parts depend only on n, the sizes and the seed, and are the same on every platform. No row is
// in two parts. The parts share one array of n numbers. loader.Subset makes a source from a part,
// [Among] a sampler.
//
// Split returns [ErrSize] if n is negative or above 2^31 - 1, if there are no sizes, if a size is
// negative or NaN, or if the sizes do not add up.
func Split[S int | float64](n int, sizes []S, seed uint64) ([][]int, error) {
	counts, err := countsOf(n, sizes)
	if err != nil {
		return nil, err
	}
	return divided(n, counts, seed), nil
}

// SplitGroups is [Split] of groups of rows with equal ids, which need not be consecutive: all rows
// of a group are in one part.
//
//	ids [N], integers or bools -> the rows of each part, ascending
//
// Sizes are numbers of groups, or fractions of that number. If groups differ in size, the numbers
// of rows are in that proportion only on average. SplitGroups takes no mask: a missing id belongs
// to the group of the number that stands for it, 0 in a table. If you pass Of of the result of
// tdict.Schema.GroupBy, missing ids are a separate group, and ids may be texts.
//
// SplitGroups also returns the errors of [NewGroups].
func SplitGroups[S int | float64](ids *tensor.Tensor, sizes []S, seed uint64) ([][]int, error) {
	groups, err := NewGroups(ids, GroupOptions{})
	if err != nil {
		return nil, err
	}
	parts, err := Split(groups.Len(), sizes, seed)
	if err != nil {
		return nil, err
	}
	rows := make([]int, 0, groups.numRows())
	for i, part := range parts {
		start := len(rows)
		for _, group := range part {
			rows = groups.appendUnit(rows, group)
		}
		parts[i] = slices.Clip(rows[start:])
		slices.Sort(parts[i])
	}
	return parts, nil
}

// Folds divides n rows at random into k folds for cross-validation, and returns the rows of each in
// ascending order. Folds differ in size by at most one row, the larger ones first. A model is
// tested on one fold and trained on the others. The result is equal to [Split] with these sizes;
// for folds of whole groups, call [SplitGroups] with k equal fractions.
//
// Folds returns [ErrSize] unless k is from 2 to n, and n is at most 2^31 - 1.
func Folds(n, k int, seed uint64) ([][]int, error) {
	if err := checkSplit(n); err != nil {
		return nil, err
	}
	if k < 2 || k > n {
		return nil, fmt.Errorf("%w: got %d folds of %d rows, want at least 2, and a row in each", ErrSize, k, n)
	}
	counts := make([]int, k)
	addEvenly(counts, n)
	return divided(n, counts, seed), nil
}

// divided returns the rows of parts whose sizes, counts, add up to n. Its random numbers are
// independent of the random numbers of epochs.
func divided(n int, counts []int, seed uint64) [][]int {
	rows := permuted(n, splitmix.Mix(splitmix.Mix(1, seed), 0)).AppendTo(make([]int, 0, n), 0, n)
	parts := make([][]int, len(counts))
	for i, count := range counts {
		parts[i], rows = rows[:count:count], rows[count:]
		slices.Sort(parts[i])
	}
	return parts
}

// countsOf returns the numbers of rows for sizes.
func countsOf[S int | float64](n int, sizes []S) ([]int, error) {
	if err := checkSplit(n); err != nil {
		return nil, err
	}
	if len(sizes) == 0 {
		return nil, fmt.Errorf("%w: got no sizes of parts, want at least one", ErrSize)
	}
	switch sizes := any(sizes).(type) {
	case []float64:
		return fractionsOf(n, sizes)
	case []int:
		return slices.Clone(sizes), checkCounts(n, sizes)
	}
	panic("sampler: impossible: sizes of another type")
}

// checkSplit returns ErrSize if n rows cannot be listed.
func checkSplit(n int) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("%w: got %d rows to split, want from 0 to %d", ErrSize, n, math.MaxInt32)
	}
	return nil
}

// checkCounts returns ErrSize unless counts add up to n and none is negative.
func checkCounts(n int, counts []int) error {
	left := n
	for i, count := range counts {
		if count < 0 {
			return fmt.Errorf("%w: got size %d of part %d, want at least 0", ErrSize, count, i)
		}
		if count > left {
			return fmt.Errorf("%w: got sizes of parts that add up to more than %d, the number of rows or groups to split", ErrSize, n)
		}
		left -= count
	}
	if left > 0 {
		return fmt.Errorf("%w: got sizes of parts that add up to %d, want %d, the number of rows or groups to split", ErrSize, n-left, n)
	}
	return nil
}

// fractionsOf returns the sizes of parts for fractions of n.
func fractionsOf(n int, fractions []float64) ([]int, error) {
	counts, sum, left := make([]int, len(fractions)), 0.0, n
	for i, f := range fractions {
		if !(f >= 0 && f <= 1) {
			return nil, fmt.Errorf("%w: got fraction %v of part %d, want from 0 to 1: give numbers of rows as ints", ErrSize, f, i)
		}
		counts[i] = min(left, int(math.Floor(float64(n)*f)))
		sum, left = sum+f, left-counts[i]
	}
	if math.Abs(sum-1) > 1e-9 {
		return nil, fmt.Errorf("%w: got fractions that add up to %v, want 1", ErrSize, sum)
	}
	addEvenly(counts, left)
	return counts, nil
}

// addEvenly adds n to counts in total: the same to each, and 1 more to the first ones if n is not
// divisible.
func addEvenly(counts []int, n int) {
	for i := range counts {
		counts[i] += (n + len(counts) - 1 - i) / len(counts)
	}
}
