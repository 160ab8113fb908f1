package wire

import (
	"context"
	"time"
)

// Within calls fn, which uses conn by an [Encoder] or a [Decoder], and ends it when ctx does, by a
// deadline that is over: fn then finds os.ErrDeadlineExceeded, and Within returns the cause of ctx.
// A connection that was interrupted within a frame is of no more use. conn is a net.Conn, or
// anything else that has deadlines.
//
//	err := wire.Within(ctx, conn, func() error { return enc.Encode(td) })
func Within(ctx context.Context, conn interface{ SetDeadline(t time.Time) error }, fn func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // what is closed ends too
	err := fn()
	if stop() || err == nil {
		return err
	}
	return context.Cause(ctx)
}
