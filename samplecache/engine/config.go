package engine

import (
	"cmp"
	"fmt"
	"time"
)

// A Config says how a cache is kept. Only Samples must be set; the zero values of the other fields
// are the defaults.
type Config struct {
	// Samples is how many samples a generation has, up to 1,048,576.
	Samples int `json:"samples"`
	// Retain is how many generations are kept besides the one published last, up to 16; 0 means 1,
	// and less than 0 none. Room for 2+Retain is set aside at once: one is being filled.
	Retain int `json:"retain"`
	// MaxHeld is how many generations beyond these may be kept because somebody still reads them;
	// with one more, the next generation has no place, and Reserve waits until one is let go. 0
	// means 2, up to 64, and less than 0 none.
	MaxHeld int `json:"max_held"`
	// MaxHold is how long a generation that is not retained any more can still be read by those who
	// hold it; then reads are [ErrGenerationGone]. 0 means without end. Limits with PerInsert need
	// it: a reader that waits for samples could hold the generation that producers wait for.
	MaxHold time.Duration `json:"max_hold"`
	// Durable has Commit wait for the disk, so that what it acknowledged survives a loss of power
	// too. By default it survives the end of every process, however it comes.
	Durable bool `json:"durable"`
	// Limits say how fast samples are put and taken compared with each other.
	Limits Limits `json:"limits"`
}

// maxSamples is how many samples a generation may have.
const maxSamples = 1 << 20

// Filled returns c with the defaults filled in, -1 for none, and the error of [Config.Check].
func (c Config) Filled() (Config, error) {
	c.Retain = max(cmp.Or(c.Retain, 1), -1)
	c.MaxHeld = max(cmp.Or(c.MaxHeld, 2), -1)
	return c, c.Check()
}

// Check returns [ErrConfig] or [ErrLimits] for a Config, with the defaults filled in, that cannot
// be used.
func (c Config) Check() error {
	switch {
	case c.Samples < 1 || c.Samples > maxSamples:
		return fmt.Errorf("%w: got Samples %d, want 1 to %d", ErrConfig, c.Samples, maxSamples)
	case c.Retain < -1 || c.Retain > 16 || c.MaxHeld < -1 || c.MaxHeld > 64:
		return fmt.Errorf("%w: got Retain %d, MaxHeld %d, want at most 16 and 64", ErrConfig, c.Retain, c.MaxHeld)
	case c.MaxHold < 0:
		return fmt.Errorf("%w: got MaxHold %v, want at least 0", ErrConfig, c.MaxHold)
	case c.MaxHold == 0 && c.Limits.PerInsert > 0:
		return fmt.Errorf("%w: got PerInsert %v and MaxHold 0, want a MaxHold: readers and producers could wait for each other without end", ErrLimits, c.Limits.PerInsert)
	}
	return c.Limits.Check(c.Samples)
}

// Held returns the text of [Stats.PublishWaits] for a cache that can fill no generation because
// more of them are held than MaxHeld allows. It returns "" if MaxHeld allows more.
func (c Config) Held(held []uint64) string {
	if len(held) <= max(c.MaxHeld, 0) {
		return ""
	}
	return fmt.Sprintf("readers: MaxHeld is %d, and generations %v, which are not retained any more, are still read", max(c.MaxHeld, 0), held)
}
