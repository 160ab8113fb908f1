package wire_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/mapping"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// connected returns two ends of a connection.
func connected(t testing.TB, network string) (a, b net.Conn) {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = filepath.Join(testkit.TempDir(t), "s")
	}
	l, err := net.Listen(network, at)
	require.NoError(t, err)
	defer l.Close()
	a, err = net.Dial(network, l.Addr().String())
	require.NoError(t, err)
	b, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = a.Close(), b.Close() })
	return a, b
}

// frames returns what an Encoder writes.
func frames(t testing.TB, tds ...*tdict.TensorDict) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := wire.NewEncoder(&b)
	for _, td := range tds {
		require.NoError(t, enc.Encode(td))
	}
	return b.Bytes()
}

// large returns a dictionary with leaves on both sides of what is gathered.
func large(t testing.TB, seed int) *tdict.TensorDict {
	td := tdict.New(4)
	for i, n := range []int{10, 1 << 16, 3, 50_000, 1 << 14, 16384 - 1, 0, 1} {
		x := tensor.Must(tensor.Arange(int32(seed), int32(seed+4*n), 1))
		x = tensor.Must(x.Reshape(4, n))
		if i%3 == 1 { // strided
			x = tensor.Must(tensor.Must(tensor.Must(x.Transpose(0, 1)).Clone()).Transpose(0, 1))
		}
		require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint(i%2), fmt.Sprint(i)), x))
	}
	require.NoError(t, td.Set("step", tensor.Must(tdict.NewData(seed%10, 4))))
	return td
}

// TestStream sends random and large dictionaries through memory, pipes and sockets.
func TestStream(t *testing.T) {
	var all []*tdict.TensorDict
	for seed := range uint64(60) {
		all = append(all, newMaker(t, seed, true).dict([][]int{{}, {0}, {3}, {2, 3}}[seed%4], 0))
	}
	all = append(all, large(t, 1), large(t, 2))
	links := map[string]func() (io.WriteCloser, io.Reader){
		"pipe": func() (io.WriteCloser, io.Reader) { r, w := io.Pipe(); return w, r },
		"one byte at a time": func() (io.WriteCloser, io.Reader) {
			r, w := io.Pipe()
			return w, iotest.HalfReader(r)
		},
		"tcp":  func() (io.WriteCloser, io.Reader) { a, b := connected(t, "tcp"); return a, b },
		"unix": func() (io.WriteCloser, io.Reader) { a, b := connected(t, "unix"); return a, b },
	}
	for name, link := range links {
		for _, own := range []bool{false, true} {
			t.Run(fmt.Sprint(name, own), func(t *testing.T) {
				w, r := link()
				sent := make(chan error, 1)
				go func() {
					enc := wire.NewEncoder(w)
					for _, td := range all {
						if err := enc.Encode(td); err != nil {
							sent <- err
							return
						}
					}
					sent <- w.Close()
				}()
				dec := wire.NewDecoder(r, wire.DecoderOptions{Own: own})
				var got []*tdict.TensorDict
				for i := range all {
					td, err := dec.Decode()
					require.NoError(t, err)
					alike(t, all[i], td)
					got = append(got, td)
				}
				require.Equal(t, io.EOF, testkit.Err(dec.Decode()))
				require.NoError(t, <-sent)
				if own {
					for i := range all {
						alike(t, all[i], got[i])
					}
				}
			})
		}
	}
}

// TestEncodeMapped sends leaves of a mapped file, and one that was cut.
func TestEncodeMapped(t *testing.T) {
	td := large(t, 3)
	at := filepath.Join(testkit.TempDir(t), "x.tdc")
	require.NoError(t, memmap.Save(at, td))
	ds := tensor.Must(memmap.Open(at))
	defer ds.Close()
	got := tensor.Must(wire.NewDecoder(bytes.NewReader(frames(t, ds.TensorDict)), wire.DecoderOptions{}).Decode())
	require.Empty(t, tensor.Must(td.Diff(got)))

	require.NoError(t, os.Truncate(at, 4096))
	enc := wire.NewEncoder(io.Discard)
	err := enc.Encode(ds.TensorDict)
	require.ErrorIs(t, err, mapping.ErrFault)
	require.Equal(t, err, enc.Encode(tdict.New()), "it stays failed")
}

// TestArenaEnds uses a dictionary after the next frame.
func TestArenaEnds(t *testing.T) {
	dec := wire.NewDecoder(bytes.NewReader(frames(t, large(t, 1), large(t, 2))), wire.DecoderOptions{})
	first := tensor.Must(dec.Decode())
	kept := tensor.Must(first.Clone())
	second := tensor.Must(dec.Decode())
	require.ErrorIs(t, testkit.Err(first.Clone()), wire.ErrClosed)
	require.Empty(t, tensor.Must(large(t, 1).Diff(kept)))
	require.Empty(t, tensor.Must(large(t, 2).Diff(second)))
	x := tensor.Must(second.Tensor("0/0"))
	require.NoError(t, tensor.Write(x, func(s []int32) { s[0] = -1 }), "it can be written")
}

// TestDecodeInto receives frames into one destination, which is locked.
func TestDecodeInto(t *testing.T) {
	var all []*tdict.TensorDict
	for i := range 6 {
		all = append(all, large(t, i))
	}
	dec := wire.NewDecoder(bytes.NewReader(frames(t, all...)), wire.DecoderOptions{})
	dst := tensor.Must(all[0].NewZeros(4))
	dst.Lock()
	for i, td := range all {
		require.NoError(t, dec.DecodeInto(dst))
		require.Empty(t, tensor.Must(td.Diff(dst)), "frame %d", i)
	}
	require.Equal(t, io.EOF, dec.DecodeInto(dst))
}

// TestDecodeIntoKinds receives every kind of value, in other orders of keys, and strided leaves.
func TestDecodeIntoKinds(t *testing.T) {
	for seed := range uint64(60) {
		m := newMaker(t, seed, true)
		m.dense = true // UpdateInPlace refuses stacks whose members differ
		td := m.dict([][]int{{}, {0}, {3}, {2, 3}}[seed%4], 0)
		dec := wire.NewDecoder(bytes.NewReader(frames(t, td, td, td)), wire.DecoderOptions{})
		dst := tensor.Must(td.Clone())
		if seed%2 == 0 {
			dst = dst.SortKeys()
		}
		for range 3 {
			require.NoError(t, dec.DecodeInto(dst), seed)
			require.Empty(t, tensor.Must(td.Diff(dst)), seed)
		}
	}
}

// TestDecodeIntoRefuses receives frames that do not fit the destination.
func TestDecodeIntoRefuses(t *testing.T) {
	dict := func(key nestedkey.Key, x *tensor.Tensor) *tdict.TensorDict {
		td := tdict.New(2)
		require.NoError(t, td.Set(key, x))
		return td
	}
	fits, dst := dict("x", tensor.Vector[int32](1, 2)), dict("x", tensor.Vector[int32](0, 0))
	more := tensor.Must(fits.Clone())
	require.NoError(t, more.Set("y", tensor.Vector[int8](1, 2)))
	other := map[string]struct {
		td   *tdict.TensorDict
		want error
	}{
		"another key":   {dict("z", tensor.Vector[int32](1, 2)), tdict.ErrMissing},
		"another dtype": {dict("x", tensor.Vector[int64](1, 2)), tensor.ErrDType},
		"another shape": {dict("x", tensor.Must(tensor.From([]int32{1, 2, 3, 4}, 2, 2))), shapeops.ErrShape},
		"one more":      {more, tdict.ErrMissing},
		"no leaf":       {tdict.New(2), tdict.ErrMissing},
		"another batch": {tdict.New(1), tdict.ErrMissing},
		"another kind":  {dict("x/y", tensor.Vector[int32](1, 2)), tdict.ErrKind},
	}
	for name, tt := range other {
		t.Run(name, func(t *testing.T) {
			dec := wire.NewDecoder(bytes.NewReader(frames(t, tt.td, fits)), wire.DecoderOptions{})
			before := tensor.Must(dst.Clone())
			testkit.Fails(t, tt.want, dec.DecodeInto(dst))
			require.Empty(t, tensor.Must(before.Diff(dst)), "it is as it was")
			require.NoError(t, dec.DecodeInto(dst), "the next frame")
			require.Empty(t, tensor.Must(fits.Diff(dst)))
			require.NoError(t, tensor.Must(dst.Tensor("x")).CopyFrom(tensor.Vector[int32](0, 0)))
		})
	}
	// A frame of the same length, with other leaves, after one that fitted.
	same := dict("z", tensor.Vector[int32](1, 2))
	dec := wire.NewDecoder(bytes.NewReader(frames(t, fits, fits, same, fits)), wire.DecoderOptions{})
	require.NoError(t, dec.DecodeInto(dst))
	require.NoError(t, dec.DecodeInto(dst))
	require.ErrorIs(t, dec.DecodeInto(dst), tdict.ErrDiffers)
	require.NoError(t, dec.DecodeInto(dst))

	require.ErrorIs(t, wire.NewDecoder(bytes.NewReader(nil), wire.DecoderOptions{}).DecodeInto(nil), tdict.ErrKind)
}

// TestSteadyState pins what a frame costs once streams have found their size.
func TestSteadyState(t *testing.T) {
	wide := func(leaves int) *tdict.TensorDict {
		td := tdict.New(4)
		for i := range leaves {
			require.NoError(t, td.Set(nestedkey.Of(fmt.Sprint("leaf", i)), tensor.Must(tensor.New(tensor.Float32, 4, 8))))
		}
		return td
	}
	for _, leaves := range []int{10, 1000} {
		td := wide(leaves)
		var b bytes.Buffer
		enc := wire.NewEncoder(&b)
		one := frames(t, td)
		r := &again{b: one}
		dec := wire.NewDecoder(r, wire.DecoderOptions{})
		dst := wide(leaves)
		encode := testing.AllocsPerRun(20, func() { b.Reset(); _ = enc.Encode(td) })
		into := testing.AllocsPerRun(20, func() { _ = dec.DecodeInto(dst) })
		decode := testing.AllocsPerRun(20, func() { _, _ = dec.Decode() })
		t.Logf("leaves %d: Encode %v, DecodeInto %v, Decode %v allocations", leaves, encode, into, decode)
		require.LessOrEqual(t, encode, 2.0)
		require.LessOrEqual(t, into, 2.0)
		require.LessOrEqual(t, decode, float64(4*leaves+60), "headers only")
		bytes := testkit.Allocated(func() { _, _ = dec.Decode() })
		require.Less(t, bytes, uint64(600*leaves+20_000))
	}
}

// An again yields bytes again and again.
type again struct {
	b  []byte
	at int
}

func (r *again) Read(p []byte) (int, error) {
	n := copy(p, r.b[r.at:])
	r.at = (r.at + n) % len(r.b)
	return n, nil
}

// TestHostileLength announces more than arrives.
func TestHostileLength(t *testing.T) {
	frame := func(length uint64, more int) io.Reader {
		return bytes.NewReader(append(binary.LittleEndian.AppendUint64(nil, length), make([]byte, more)...))
	}
	testkit.MaxBytes(t, 400_000, func() {
		_, err := wire.NewDecoder(frame(1<<29, 1000), wire.DecoderOptions{}).Decode()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
	long := frame(1<<29, 2<<20)
	testkit.MaxBytes(t, 9<<20, func() {
		_, err := wire.NewDecoder(long, wire.DecoderOptions{Own: true}).Decode()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
	for _, length := range []uint64{1<<30 + 1, 1 << 63, 1<<64 - 1} {
		dec := wire.NewDecoder(frame(length, 10), wire.DecoderOptions{})
		require.ErrorIs(t, testkit.Err(dec.Decode()), wire.ErrFrame)
		require.ErrorIs(t, testkit.Err(dec.Decode()), wire.ErrFrame, "it stays failed")
		require.ErrorIs(t, dec.DecodeInto(tdict.New()), wire.ErrFrame)
	}
	require.ErrorIs(t, testkit.Err(wire.NewDecoder(frame(100, 100), wire.DecoderOptions{MaxFrame: 99}).Decode()), wire.ErrFrame)
	for _, length := range []uint64{0, 1, 7, 8, 9, 100} {
		require.ErrorIs(t, testkit.Err(wire.NewDecoder(frame(length, 100), wire.DecoderOptions{}).Decode()), wire.ErrCorrupt)
	}
}

// TestCutStream ends a stream within a frame, at every byte.
func TestCutStream(t *testing.T) {
	td := newMaker(t, 8, true).dict([]int{}, 0)
	b := frames(t, td)
	for n := 1; n < len(b); n++ {
		dec := wire.NewDecoder(bytes.NewReader(b[:n]), wire.DecoderOptions{})
		require.ErrorIs(t, testkit.Err(dec.Decode()), io.ErrUnexpectedEOF, n)
		dst := tensor.Must(td.Clone())
		dec = wire.NewDecoder(bytes.NewReader(append(append(bytes.Clone(b), b...), b[:n]...)), wire.DecoderOptions{})
		require.NoError(t, dec.DecodeInto(dst))
		require.NoError(t, dec.DecodeInto(dst))
		require.ErrorIs(t, dec.DecodeInto(dst), io.ErrUnexpectedEOF, n)
	}
}

// TestGarbageFrame reads on after a frame that arrived whole and cannot be read.
func TestGarbageFrame(t *testing.T) {
	td := large(t, 1)
	garbage := append(binary.LittleEndian.AppendUint64(nil, 50), bytes.Repeat([]byte("?"), 50)...)
	dec := wire.NewDecoder(bytes.NewReader(append(garbage, frames(t, td)...)), wire.DecoderOptions{})
	require.ErrorIs(t, testkit.Err(dec.Decode()), wire.ErrCorrupt)
	require.Empty(t, tensor.Must(td.Diff(tensor.Must(dec.Decode()))))
}

// TestEncodeRefuses leaves the Encoder as it was.
func TestEncodeRefuses(t *testing.T) {
	var b bytes.Buffer
	enc := wire.NewEncoder(&b)
	bad := tdict.New()
	require.NoError(t, bad.Set("size/x", tensor.Scalar[int8](1)))
	require.ErrorIs(t, enc.Encode(bad), wire.ErrName)
	require.ErrorIs(t, enc.Encode(nil), tdict.ErrKind)
	require.Zero(t, b.Len())
	require.NoError(t, enc.Encode(tdict.New()))
	require.NoError(t, testkit.Err(wire.NewDecoder(&b, wire.DecoderOptions{}).Decode()))
}

// TestStall ends by a deadline, and by a context, what a peer does not go on with.
func TestStall(t *testing.T) {
	td := large(t, 1)
	b := frames(t, td)
	for _, network := range []string{"tcp", "unix"} {
		a, peer := connected(t, network)
		_, err := peer.Write(b[:1000])
		require.NoError(t, err)
		dec := wire.NewDecoder(a, wire.DecoderOptions{})
		require.NoError(t, a.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
		require.ErrorIs(t, testkit.Err(dec.Decode()), os.ErrDeadlineExceeded)

		a, _ = connected(t, network)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone home")
		time.AfterFunc(20*time.Millisecond, func() { cancel(gone) })
		dec = wire.NewDecoder(a, wire.DecoderOptions{})
		require.Equal(t, gone, wire.Within(ctx, a, func() error { return testkit.Err(dec.Decode()) }))
		require.Equal(t, gone, wire.Within(ctx, a, func() error { t.Error("called"); return nil }))

		a, _ = connected(t, network) // whose peer does not read
		ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
		enc := wire.NewEncoder(a)
		err = wire.Within(ctx, a, func() error {
			for {
				if err := enc.Encode(td); err != nil {
					return err
				}
			}
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, enc.Encode(td), os.ErrDeadlineExceeded, "it stays failed")
		end()
	}
}

// A pausing reader returns an error, once, before each of the given bytes.
type pausing struct {
	data []byte
	at   map[int]bool
	read int
}

var errPause = errors.New("deadline passed")

func (p *pausing) Read(b []byte) (int, error) {
	if p.at[p.read] {
		delete(p.at, p.read)
		return 0, errPause
	}
	if p.read == len(p.data) {
		return 0, io.EOF
	}
	b[0] = p.data[p.read]
	p.read++
	return 1, nil
}

// TestPauses has errors come before frames, within their lengths and within frames: only the last
// kind ends a Decoder. So do frames that come after io.EOF.
func TestPauses(t *testing.T) {
	td := tdict.New(2)
	require.NoError(t, td.Set("a", tensor.Vector[int16](1, 2)))
	var b bytes.Buffer
	require.NoError(t, wire.NewEncoder(&b).Encode(td))
	one := b.Len()
	require.NoError(t, wire.NewEncoder(&b).Encode(td))
	for _, into := range []bool{false, true} {
		decode := func(d *wire.Decoder) error {
			if into {
				return d.DecodeInto(tensor.Must(td.Clone()))
			}
			got, err := d.Decode()
			require.True(t, err != nil || td.Equal(got))
			return err
		}
		for at := range one + 8 {
			d := wire.NewDecoder(&pausing{data: b.Bytes(), at: map[int]bool{at: true}}, wire.DecoderOptions{})
			within := at >= 8 && at < one
			if at >= one {
				require.NoError(t, decode(d))
			}
			require.ErrorIs(t, decode(d), errPause, at)
			if within {
				require.ErrorIs(t, decode(d), errPause, "after an error within a frame")
				continue
			}
			require.NoError(t, decode(d), at)
		}
		r := &pausing{data: b.Bytes()[:one]}
		d := wire.NewDecoder(r, wire.DecoderOptions{})
		require.NoError(t, decode(d))
		require.Equal(t, io.EOF, decode(d))
		r.data = b.Bytes()
		require.NoError(t, decode(d), "more has come")
	}
}
