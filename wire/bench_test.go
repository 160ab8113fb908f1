package wire_test

import (
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// BenchmarkStream sends messages over loopback TCP: how=plain writes and reads one buffer of as
// many bytes, how=leaf makes one call a leaf, how=decode and how=into send dictionaries.
func BenchmarkStream(b *testing.B) {
	for _, shape := range []struct{ leaves, bytes int }{{8, 1 << 20}, {1000, 128}} {
		td := tdict.New(4)
		for i := range shape.leaves {
			require.NoError(b, td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), tensor.Must(tensor.New(tensor.Uint8, 4, shape.bytes/4))))
		}
		total := shape.leaves * shape.bytes
		one, leaf := make([]byte, total), make([]byte, shape.bytes)
		run := func(how string, send func(c net.Conn) func() error, receive func(c net.Conn) func() error) {
			b.Run(fmt.Sprintf("leaves=%d/bytes=%d/how=%s", shape.leaves, shape.bytes, how), func(b *testing.B) {
				x, y := connected(b, "tcp")
				b.SetBytes(int64(total))
				b.ReportAllocs()
				get, put := receive(y), send(x)
				done := make(chan error, 1)
				go func() {
					for {
						if err := put(); err != nil {
							done <- err
							return
						}
					}
				}()
				for b.Loop() {
					require.NoError(b, get())
				}
				x.Close()
				y.Close()
				<-done
			})
		}
		full := func(p []byte) func(c net.Conn) func() error {
			return func(c net.Conn) func() error {
				return func() error { _, err := io.ReadFull(c, p); return err }
			}
		}
		write := func(p []byte) func(c net.Conn) func() error {
			return func(c net.Conn) func() error { return func() error { _, err := c.Write(p); return err } }
		}
		encode := func(c net.Conn) func() error {
			enc := wire.NewEncoder(c)
			return func() error { return enc.Encode(td) }
		}
		run("plain", write(one), full(make([]byte, total)))
		run("leaf", func(c net.Conn) func() error {
			return func() error {
				for range shape.leaves {
					if _, err := c.Write(leaf); err != nil {
						return err
					}
				}
				return nil
			}
		}, full(make([]byte, total)))
		run("decode", encode, func(c net.Conn) func() error {
			dec := wire.NewDecoder(c, wire.DecoderOptions{})
			return func() error { _, err := dec.Decode(); return err }
		})
		run("into", encode, func(c net.Conn) func() error {
			dec, dst := wire.NewDecoder(c, wire.DecoderOptions{}), tensor.Must(td.NewZeros(4))
			return func() error { return dec.DecodeInto(dst) }
		})
	}
}
