package loader

import (
	"fmt"
	"math"
	"time"

	"github.com/go-tensordict/tensordict/loader/sampler"
)

// Stats say how the time of a loop over batches was spent.
type Stats struct {
	Batches int
	Rows    int
	Bytes   int           // of the batches that the loop was given
	Waited  time.Duration // by the loop, for batches
	Used    time.Duration // by the loop, with batches
	Worked  time.Duration // on making batches, by all goroutines together
}

// Stats returns those of the loop over [Loader.Batches] that runs, or ran last.
func (l *Loader) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

// handed notes that the loop was given a batch, after which l stands at.
func (l *Loader) handed(at cursor, more Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = at
	s := &l.stats
	s.Batches, s.Rows, s.Bytes = s.Batches+more.Batches, s.Rows+more.Rows, s.Bytes+more.Bytes
	s.Waited, s.Worked = s.Waited+more.Waited, s.Worked+more.Worked
}

// used notes how long the loop was busy with a batch, and returns the stats.
func (l *Loader) used(took time.Duration) Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stats.Used += took
	return l.stats
}

// Elapsed returns how long the loop has run.
func (s Stats) Elapsed() time.Duration { return s.Waited + s.Used }

// WaitShare returns the part of its time, from 0 to 1, that the loop has waited for batches. If it
// is near 0, input is not the bottleneck.
func (s Stats) WaitShare() float64 { return ratio(s.Waited, s.Elapsed()) }

// RowsPerSecond returns how many rows the loop was given in a second.
func (s Stats) RowsPerSecond() float64 { return float64(s.Rows) / seconds(s.Elapsed()) }

// BytesPerSecond returns how many bytes the loop was given in a second.
func (s Stats) BytesPerSecond() float64 { return float64(s.Bytes) / seconds(s.Elapsed()) }

// String returns the stats in one line, as
//
//	29 batches, 1797 rows, 129 kB in 1.2ms: 1.5M rows/s, 108 MB/s; waited 41%, worked 0.5ms
func (s Stats) String() string {
	return fmt.Sprintf("%d batches, %d rows, %sB in %v: %srows/s, %sB/s; waited %.0f%%, worked %v",
		s.Batches, s.Rows, scaled(float64(s.Bytes)), short(s.Elapsed()),
		scaled(s.RowsPerSecond()), scaled(s.BytesPerSecond()), 100*s.WaitShare(), short(s.Worked))
}

// seconds returns a duration in seconds, never 0.
func seconds(d time.Duration) float64 { return max(d, 1).Seconds() }

// ratio returns a / b, or 0 for nothing.
func ratio(a, b time.Duration) float64 {
	if b <= 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// scaled returns a number with three digits and a prefix of SI, as "1.53 M".
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

// short returns a duration with three digits or so.
func short(d time.Duration) time.Duration {
	for unit := time.Second; unit > time.Nanosecond; unit /= 10 {
		if d >= unit {
			return d.Round(unit / 100)
		}
	}
	return d
}

// Progress says how far a loop over batches has come.
type Progress struct {
	Epoch uint64
	Done  int   // batches that this loop has had
	Total int   // batches that this loop will have had at its end; sampler.NoEnd if it has none
	Stats Stats // of this loop
}

// Left returns how long the rest will take, at the speed so far: 0 if there is no end.
func (p Progress) Left() time.Duration {
	if p.Total == sampler.NoEnd {
		return 0
	}
	left := float64(p.Stats.Elapsed()) / float64(max(1, p.Done)) * float64(p.Total-p.Done)
	return time.Duration(min(left, math.MaxInt64/2))
}

// String returns the progress in one line, as "epoch 3: 120 of 782 batches, 1.5 Mrows/s, 4s left".
func (p Progress) String() string {
	if p.Total == sampler.NoEnd {
		return fmt.Sprintf("epoch %d: %d batches, %srows/s", p.Epoch, p.Done, scaled(p.Stats.RowsPerSecond()))
	}
	return fmt.Sprintf("epoch %d: %d of %d batches, %srows/s, %v left",
		p.Epoch, p.Done, p.Total, scaled(p.Stats.RowsPerSecond()), short(p.Left()))
}
