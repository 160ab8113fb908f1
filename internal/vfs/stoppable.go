package vfs

import "context"

// A stoppable is a file whose Writes return an error once ctx has ended. ctx may be nil.
type stoppable struct {
	File
	ctx context.Context
}

// Write writes p in pieces of a few MB.
func (s stoppable) Write(p []byte) (n int, err error) {
	const most = 8 << 20
	for len(p) > 0 && err == nil {
		if s.ctx != nil && s.ctx.Err() != nil {
			return n, s.ctx.Err()
		}
		var m int
		m, err = s.File.Write(p[:min(len(p), most)])
		n, p = n+m, p[m:]
	}
	return n, err
}
