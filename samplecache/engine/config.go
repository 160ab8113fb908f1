package engine

import (
	"cmp"
	"fmt"
	"time"
)

// A Config describes a cache. Only Samples must be set; the zero values of the other fields are the
// defaults.
type Config struct {
	// Samples is the number of samples of a generation, up to 1,048,576.
	Samples int `json:"samples"`
	// Retain is the number of generations kept besides the one published last, up to 16. 0 means 1,
	// and a negative number none. Room for 2+Retain generations is allocated at once, since one is
	// being filled.
	Retain int `json:"retain"`
	// MaxHeld is the number of older generations that may be kept because they are being read, up
	// to 64. If one more is being read, there is no room for the next generation, and Reserve waits
	// until one is released. 0 means 2, and a negative number none.
	MaxHeld int `json:"max_held"`
	// MaxHold is how long a generation that is not retained any more can be read by the sessions
	// that hold it. After that, reads return [ErrGenerationGone]. 0 means without end. Limits with
	// PerInsert need a MaxHold: otherwise a reader that waits for samples could hold the generation
	// whose room producers wait for.
	MaxHold time.Duration `json:"max_hold"`
	// Durable makes Commit wait for the disk, so that a committed sample survives a loss of power.
	// By default it survives only the end of processes.
	Durable bool `json:"durable"`
	// Limits say how fast samples are put and taken compared with each other.
	Limits Limits `json:"limits"`
}

// maxSamples is the maximum number of samples of a generation.
const maxSamples = 1 << 20

// Filled returns c with the defaults filled in, where -1 stands for none. It returns the error of
// [Config.Check].
func (c Config) Filled() (Config, error) {
	c.Retain = max(cmp.Or(c.Retain, 1), -1)
	c.MaxHeld = max(cmp.Or(c.MaxHeld, 2), -1)
	return c, c.Check()
}

// Check returns [ErrConfig] or [ErrLimits] if c, with the defaults filled in, is invalid.
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

// Held returns the text of [Stats.PublishWaits] if the generations in held are more than MaxHeld
// allows, so that the next generation has no room. Otherwise it returns "".
func (c Config) Held(held []uint64) string {
	if len(held) <= max(c.MaxHeld, 0) {
		return ""
	}
	return fmt.Sprintf("readers: MaxHeld is %d, and generations %v, which are not retained any more, are still read", max(c.MaxHeld, 0), held)
}
