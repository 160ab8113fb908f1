package engine

import (
	"errors"
	"fmt"
	"math"
)

// ErrLimits says that [Limits] are invalid, or that a cache under them could stop for ever.
var ErrLimits = errors.New("unusable limits")

// Limits say how fast samples are taken compared with how fast they are put. The zero value limits
// nothing.
//
// MinPasses and MaxPasses count passes over one generation. The other fields bound a ratio. For
// each group, the difference
//
//	(inserts - MinSize) * PerInsert - taken
//
// stays between MinDiff and MaxDiff. Here inserts is the number of all samples put, and taken the
// number of all rows that the group has taken. An operation that would leave the bounds waits:
// putting waits for the group that has taken the fewest rows, and taking waits for more samples. Up
// to MinSize samples are put without waiting, and no row is taken before.
//
// Nothing waits for a group without members: before its first rank calls Epoch, and after its last
// has left, producers run freely. A rank that waits in Epoch for the first generation is a member.
//
// Safe for concurrent use.
type Limits struct {
	// MinPasses is how often each group takes all rows of a generation before the next is
	// published. Publishing does not wait for a group that joined after the generation was
	// published.
	MinPasses int `json:"min_passes,omitempty"`
	// MaxPasses is how many passes over one generation a group begins before it waits for the next;
	// 0 means any number.
	MaxPasses int `json:"max_passes,omitempty"`
	// PerInsert is the number of rows that each group takes for each sample put. 0 means no ratio;
	// then the fields below must be 0 too.
	PerInsert float64 `json:"per_insert,omitempty"`
	// MinSize is the number of samples that are put before the ratio applies, at least 1.
	MinSize int `json:"min_size,omitempty"`
	// MinDiff is the least difference, in rows. If it is negative, groups may run ahead of the
	// samples.
	MinDiff float64 `json:"min_diff,omitempty"`
	// MaxDiff is the greatest difference, in rows: how far samples may run ahead of a group.
	MaxDiff float64 `json:"max_diff,omitempty"`
}

// MaxInserts returns the total number of samples that may be put. taken is the total number of rows
// that the slowest group has taken. Without a ratio it returns [math.MaxInt64].
func (l Limits) MaxInserts(taken int64) int64 {
	if l.PerInsert == 0 {
		return math.MaxInt64
	}
	return largest(int64(l.MinSize), func(inserts int64) bool { return l.diff(inserts, taken) <= l.MaxDiff })
}

// MaxTaken returns the total number of rows that a group may take. inserts is the total number of
// samples put. Without a ratio it returns [math.MaxInt64].
func (l Limits) MaxTaken(inserts int64) int64 {
	switch {
	case l.PerInsert == 0:
		return math.MaxInt64
	case inserts < int64(l.MinSize):
		return 0
	}
	return largest(0, func(taken int64) bool { return l.diff(inserts, taken) >= l.MinDiff })
}

// Begins reports whether a group may begin one more pass over the current generation.
//
//   - begun is the number of passes over it that the group has begun.
//   - awaited says that publishing waits for the group: it joined before the generation was
//     published.
//   - promised is the number of rows that the group has taken, may still take in passes that it has
//     begun over any generation, and takes in the new pass.
//   - inserts is the number of samples put.
//
// A pass that publishing does not wait for begins only if all promised rows may be taken now.
// Otherwise it could outlast its generation, and then take rows that the group needs for MinPasses
// over the next one.
func (l Limits) Begins(begun int, awaited bool, promised, inserts int64) bool {
	switch {
	case l.MaxPasses > 0 && begun >= l.MaxPasses:
		return false
	case l.MinPasses == 0 || awaited && begun < l.MinPasses:
		return true
	}
	return promised <= l.MaxTaken(inserts)
}

// Joins returns the number of rows that a new group counts as having taken. inserts is the number
// of samples put. The result is the largest with which the group's difference is at least max(0,
// MinDiff). With fewer than MinSize samples, Joins returns 0, and the difference is negative.
func (l Limits) Joins(inserts int64) int64 {
	if l.PerInsert == 0 || inserts < int64(l.MinSize) {
		return 0
	}
	return largest(0, func(taken int64) bool { return l.diff(inserts, taken) >= max(0, l.MinDiff) })
}

// diff returns the difference that the ratio bounds. It is computed from totals, so rounding errors
// do not add up. The conversion prevents a fused multiply-add, which would round differently.
func (l Limits) diff(inserts, taken int64) float64 {
	return float64(float64(inserts-int64(l.MinSize))*l.PerInsert) - float64(taken)
}

// largest returns the largest n for which holds(n), or least if that is greater. holds must be true
// up to some n and false after it. A binary search evaluates the inequality itself; a division
// would round.
func largest(least int64, holds func(n int64) bool) int64 {
	low, high := least, int64(math.MaxInt64)
	for low < high {
		mid := low + (high-low)/2 + 1
		if holds(mid) {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

// maxPasses is the maximum of MinPasses.
const maxPasses = 10_000

// Check returns [ErrLimits], with the field and its bound, if l is invalid. It also refuses limits
// under which a cache could stop for ever, although groups continue to read and producers continue
// to put. samples is the number of samples of a generation.
func (l Limits) Check(samples int) error {
	for _, b := range l.bounds(float64(samples)) {
		if !b.kept {
			return fmt.Errorf("%w: got %s %v, want "+b.want, ErrLimits, b.field, b.got, b.limit)
		}
	}
	return nil
}

// A bound is a condition on a field, or on the difference of two fields.
type bound struct {
	field string
	got   float64
	kept  bool   // false for NaN
	want  string // a format for limit
	limit float64
}

// atLeast returns the bound got >= limit.
func atLeast(field string, got, limit float64, want string) bound {
	return bound{field, got, got >= limit, want, limit}
}

// atMost returns the bound got <= limit.
func atMost(field string, got, limit float64, want string) bound {
	return bound{field, got, got <= limit, want, limit}
}

// finite returns the bound that got is finite.
func finite(field string, got float64) bound {
	return bound{field, got, math.Abs(got) <= math.MaxFloat64, "a finite number, within ±%v", math.MaxFloat64}
}

// unset returns the bound got == 0.
func unset(field string, got float64) bound {
	return bound{field, got, got == 0, "%v without PerInsert", 0}
}

// bounds returns all bounds. samples is the number of samples of a generation. The bounds of single
// fields come first, because the later ones rely on them.
func (l Limits) bounds(samples float64) []bound {
	size, spi, width := float64(l.MinSize), l.PerInsert, l.MaxDiff-l.MinDiff
	all := []bound{
		atLeast("MinPasses", float64(l.MinPasses), 0, "at least %v"),
		atMost("MinPasses", float64(l.MinPasses), maxPasses, "at most %v"),
		atLeast("MaxPasses", float64(l.MaxPasses), 0, "at least %v"),
		atLeast("PerInsert", spi, 0, "at least %v"),
		finite("PerInsert", spi), finite("MinDiff", l.MinDiff), finite("MaxDiff", l.MaxDiff),
	}
	if spi == 0 {
		all = append(all, unset("MinSize", size), unset("MinDiff", l.MinDiff), unset("MaxDiff", l.MaxDiff))
	} else {
		all = append(all,
			atLeast("MinSize", size, 1, "at least %v"),
			atMost("MinSize", size, samples, "at most samples = %v"),
			atLeast("MaxDiff-MinDiff", width, 2*max(1, spi), "at least 2*max(1, PerInsert) = %v"),
			atMost("MinDiff", l.MinDiff, spi*size, "at most PerInsert*MinSize = %v"),
			atLeast("MaxDiff", l.MaxDiff, spi*(samples-size), "at least PerInsert*(samples-MinSize) = %v"),
			atLeast("MaxDiff-MinDiff", width, spi*samples+1, "at least PerInsert*samples+1 = %v"),
			atMost("MinDiff", l.MinDiff, spi*(samples-size)-1, "at most PerInsert*(samples-MinSize)-1 = %v"),
			atMost("MinPasses", float64(l.MinPasses), spi, "at most PerInsert = %v"))
	}
	if l.MaxPasses > 0 {
		all = append(all,
			atMost("PerInsert", spi, float64(l.MaxPasses), "at most MaxPasses = %v"),
			atMost("MinPasses", float64(l.MinPasses), float64(l.MaxPasses), "at most MaxPasses = %v"))
	}
	return all
}
