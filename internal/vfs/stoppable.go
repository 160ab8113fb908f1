package vfs

import "context"

// A stoppable file refuses to write once ctx, if there is one, has ended.
type stoppable struct {
	File
	ctx context.Context
}

// Write writes p some MB at a time.
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
