package wire

import (
	"context"
	"time"
)

// Within calls fn, which uses conn by an [Encoder] or a [Decoder], and ends it when ctx does, by a
// deadline that is over: fn then finds os.ErrDeadlineExceeded, and Within returns the cause of ctx.
// A connection that was interrupted within a frame is of no more use. conn is a net.Conn, or
// anything else that has deadlines. If ctx ends just as fn succeeds, Within returns nil and conn
// has no deadline.
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
