package bell

import "errors"

// ErrDead reports that the process at the other end of a Line is gone, or was never there.
var ErrDead = errors.New("no process holds the bell")
