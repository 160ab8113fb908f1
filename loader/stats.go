package loader

import (
	"fmt"
	"math"
	"time"

	"github.com/go-tensordict/tensordict/loader/sampler"
)

// Stats describe how the time of a loop over batches was spent.
type Stats struct {
	Batches int
	Rows    int
	Bytes   int           // of the batches that the loop got
	Waited  time.Duration // time that the loop waited for batches
	Used    time.Duration // time that the loop used batches
	Worked  time.Duration // time spent making batches, summed over goroutines
}

// Stats returns the stats of the running loop over [Loader.Batches], or of the last one.
func (l *Loader) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// handed records that the loop got a batch. at is the position after it; more is added to the
// stats.
func (l *Loader) handed(at cursor, more Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
	s := &l.stats
	s.Batches, s.Rows, s.Bytes = s.Batches+more.Batches, s.Rows+more.Rows, s.Bytes+more.Bytes
	s.Waited, s.Worked = s.Waited+more.Waited, s.Worked+more.Worked
}

// used records how long the loop used a batch, and returns the stats.
func (l *Loader) used(took time.Duration) Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Used += took
	return l.stats
}

// Elapsed returns the running time of the loop.
func (s Stats) Elapsed() time.Duration { return s.Waited + s.Used }

// WaitShare returns the part of the running time, from 0 to 1, that the loop waited for batches. If
// it is near 0, input is not the bottleneck.
func (s Stats) WaitShare() float64 { return ratio(s.Waited, s.Elapsed()) }

// RowsPerSecond returns the number of rows that the loop got per second.
func (s Stats) RowsPerSecond() float64 { return float64(s.Rows) / seconds(s.Elapsed()) }

// BytesPerSecond returns the number of bytes that the loop got per second.
func (s Stats) BytesPerSecond() float64 { return float64(s.Bytes) / seconds(s.Elapsed()) }

// String returns the stats in one line, such as
//
//	29 batches, 1797 rows, 129 kB in 1.2ms: 1.5M rows/s, 108 MB/s; waited 41%, worked 0.5ms
func (s Stats) String() string {
	return fmt.Sprintf("%d batches, %d rows, %sB in %v: %srows/s, %sB/s; waited %.0f%%, worked %v",
		s.Batches, s.Rows, scaled(float64(s.Bytes)), short(s.Elapsed()),
		scaled(s.RowsPerSecond()), scaled(s.BytesPerSecond()), 100*s.WaitShare(), short(s.Worked))
}

// seconds returns a duration in seconds, which is never 0.
func seconds(d time.Duration) float64 { return max(d, 1).Seconds() }

// ratio returns a / b, or 0 if b is 0.
func ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// scaled formats a number with three digits and an SI prefix, such as "1.53 M".
func scaled(x float64) string {
	const prefixes = " kMGTPE"
	i := 0
	for ; math.Round(x) >= 1000 && i < len(prefixes)-1; i++ {
		x /= 1000
	}
	if i == 0 {
		return fmt.Sprintf("%.0f ", x)
	}
	return fmt.Sprintf("%.*f %c", max(0, 2-int(math.Log10(x))), x, prefixes[i])
}

// short rounds a duration to about three digits.
func short(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// Progress is the progress of a loop over batches.
type Progress struct {
	Epoch uint64
	Done  int   // number of batches that this loop has had
	Total int   // number of batches of this loop; sampler.NoEnd if it has no end
	Stats Stats // stats of this loop
}

// Left returns the remaining time at the speed so far, or 0 if the loop has no end.
func (p Progress) Left() time.Duration {
	if p.Total == sampler.NoEnd {
		return 0
	}
	left := float64(p.Stats.Elapsed()) / float64(max(1, p.Done)) * float64(p.Total-p.Done)
	return time.Duration(min(left, math.MaxInt64/2))
}

// String returns the progress in one line, such as "epoch 3: 120 of 782 batches, 1.5 Mrows/s, 4s
// left".
func (p Progress) String() string {
	if p.Total == sampler.NoEnd {
		return fmt.Sprintf("epoch %d: %d batches, %srows/s", p.Epoch, p.Done, scaled(p.Stats.RowsPerSecond()))
	}
	return fmt.Sprintf("epoch %d: %d of %d batches, %srows/s, %v left",
		p.Epoch, p.Done, p.Total, scaled(p.Stats.RowsPerSecond()), short(p.Left()))
}
