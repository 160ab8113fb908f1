package wire

import (
	"context"
	"time"
)

// Within calls fn, which uses conn by an [Encoder] or a [Decoder]. If ctx ends first, Within sets a
// deadline of conn that has passed, so that fn fails with os.ErrDeadlineExceeded, and returns the
// cause of ctx. A connection that was interrupted within a frame cannot be used any more. conn is a
// net.Conn, or another connection with deadlines. If ctx ends just as fn succeeds, Within returns
// nil, and conn has no deadline.
//
//	err := wire.Within(ctx, conn, func() error { return enc.Encode(td) })
func Within(ctx context.Context, conn interface{ SetDeadline(t time.Time) error }, fn func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = conn.SetDeadline(time.Unix(1, 0)) // if conn is closed, fn ends too
		close(ended)
	})
	err := fn()
	if stop() {
		return err
	}
	<-ended
	if err != nil {
		return context.Cause(ctx)
	}
	return conn.SetDeadline(time.Time{})
}
