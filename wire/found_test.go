package wire_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/wire"
)

// TestDataWithoutRows keeps the value that data without rows has, as Python does.
func TestDataWithoutRows(t *testing.T) {
	want := `{"cls":"TensorDict","non_tensors":{"n":["hello",[0],null]},"leaves":{},` +
		`"cls_metadata":{"device":null,"names":[null],"batch_size":[0],"is_locked":false}}`
	td := tdict.New(0)
	require.NoError(t, td.Set("n", tensor.Must(tdict.NewData("hello", 0))))
	b := tensor.Must(wire.Append(nil, td))
	require.Equal(t, want, string(b[:len(b)-8]))
	var m wire.Message
	require.NoError(t, m.UnmarshalBinary(b))
	require.Equal(t, b, tensor.Must(m.MarshalBinary()))
}

// TestDecodeIntoOther receives frames into a destination of the same form as the last one, whose
// elements cannot be written.
func TestDecodeIntoOther(t *testing.T) {
	dict := func(x *tensor.Tensor) *tdict.TensorDict {
		td := tdict.New(4)
		require.NoError(t, td.Set("a", tensor.Vector[int32](0, 0, 0, 0)))
		require.NoError(t, td.Set("x", x))
		return td
	}
	sent := dict(tensor.Vector[int32](1, 2, 3, 4))
	lent := &testkit.Lender{Bytes: make([]byte, 16), Locked: true}
	for name, tt := range map[string]struct {
		x    *tensor.Tensor
		want error
	}{
		"read-only": {tensor.Must(tensor.FromLender(tensor.Int32, lent, 0, 4)), tensor.ErrReadOnly},
		"expanded":  {tensor.Must(tensor.Vector[int32](7).Expand(4)), tensor.ErrLayout},
	} {
		t.Run(name, func(t *testing.T) {
			dec := wire.NewDecoder(bytes.NewReader(frames(t, sent, sent, sent, sent)), wire.DecoderOptions{})
			dst, other := tensor.Must(sent.NewZeros(4)), dict(tt.x)
			require.NoError(t, dec.DecodeInto(dst))
			before := tensor.Must(other.Clone())
			testkit.Fails(t, tt.want, dec.DecodeInto(other))
			require.Empty(t, tensor.Must(before.Diff(other)), "it is as it was")
			require.NoError(t, dec.DecodeInto(dst), "the next frame")
			require.Empty(t, tensor.Must(sent.Diff(dst)))
			require.NoError(t, testkit.Err(dec.Decode()))
		})
	}
}

// TestWithinSuccess uses a connection on after a call that succeeded as its context ended.
func TestWithinSuccess(t *testing.T) {
	a, b := connected(t, "tcp")
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		require.NoError(t, wire.Within(ctx, a, func() error { cancel(); return nil }))
		require.NoError(t, wire.NewEncoder(a).Encode(tdict.New()))
		require.NoError(t, testkit.Err(wire.NewDecoder(b, wire.DecoderOptions{}).Decode()))
	}
}

// TestLenderShrinks uses what lies in memory that is shorter by now.
func TestLenderShrinks(t *testing.T) {
	b := tensor.Must(wire.Append(nil, large(t, 1)))
	lender := &testkit.Lender{Bytes: b}
	td := tensor.Must(wire.Parse(lender))
	for _, n := range []int{len(b) - 100, 1000, 0} {
		lender.Bytes = b[:n]
		require.ErrorIs(t, testkit.Err(wire.Parse(lender)), wire.ErrCorrupt)
	}
	require.Error(t, testkit.Err(td.Clone()))
	require.Zero(t, lender.Borrowed())
}

// A failing writes the first n bytes.
type failing struct{ n int }

func (w *failing) Write(p []byte) (int, error) {
	n := min(w.n, len(p))
	if w.n -= n; n < len(p) {
		return n, net.ErrClosed
	}
	return n, nil
}

// TestEncoderFails ends a connection after each of some bytes.
func TestEncoderFails(t *testing.T) {
	td := large(t, 1)
	whole := len(frames(t, td))
	for _, n := range []int{0, 1, 7, 8, 9, 100, 1 << 16, 300_000, whole - 9, whole - 1} {
		enc := wire.NewEncoder(&failing{n})
		require.ErrorIs(t, enc.Encode(td), net.ErrClosed, n)
		require.ErrorIs(t, enc.Encode(tdict.New()), net.ErrClosed, n)
		sent, err := wire.WriteTo(&failing{max(0, n-8)}, td)
		require.ErrorIs(t, err, net.ErrClosed)
		require.LessOrEqual(t, sent, int64(n))
	}
	enc := wire.NewEncoder(&failing{whole})
	require.NoError(t, enc.Encode(td))
}

// A stingy takes the first n bytes, and no more, without an error.
type stingy struct{ n int }

func (w *stingy) Write(p []byte) (int, error) {
	n := min(w.n, len(p))
	w.n -= n
	return n, nil
}

// TestShortWrite: bytes that a writer does not take are an error, though it returns none.
func TestShortWrite(t *testing.T) {
	td := large(t, 1)
	whole := len(frames(t, td))
	for _, n := range []int{0, 7, 100, 300_000, whole - 1} {
		enc := wire.NewEncoder(&stingy{n})
		require.ErrorIs(t, enc.Encode(td), io.ErrShortWrite, n)
		require.ErrorIs(t, enc.Encode(tdict.New()), io.ErrShortWrite, n)
	}
	sent, err := wire.WriteTo(&stingy{1000}, td)
	require.ErrorIs(t, err, io.ErrShortWrite)
	require.Equal(t, int64(1000), sent)
	require.NoError(t, wire.NewEncoder(&stingy{whole}).Encode(td))
}

// TestOddKeys writes keys that the form or nestedkey could take for something else.
func TestOddKeys(t *testing.T) {
	td := tdict.New(2)
	for _, name := range []string{"", "~", "~1", "/", "a/b", "\x00", "\u2028", "é", "x<NJT>", "0", "device"} {
		require.NoError(t, td.Set(nestedkey.Of(name), tensor.Vector[int8](1, 2)))
		require.NoError(t, td.Set(nestedkey.Of("in", name+".", name), tensor.Vector[int8](3, 4)))
	}
	for _, name := range []string{"cls", "size", "leaves"} { // leaves and data may be called so
		require.NoError(t, td.Set(nestedkey.Of(name), tensor.Vector[int8](1, 2)))
		require.NoError(t, td.Set(nestedkey.Of("in", name), tensor.Must(tdict.NewData(name, 2))))
	}
	got := tensor.Must(wire.NewDecoder(bytes.NewReader(frames(t, td)), wire.DecoderOptions{}).Decode())
	alike(t, td, got)
	for _, name := range []string{"<NJT>", "<NJT_VALUES>a", "<NJT_OFFSETS>", "<NJT_LENGTHS>b"} {
		bad := tdict.New()
		require.NoError(t, bad.Set(nestedkey.Of(name), tensor.Scalar[int8](1)))
		require.ErrorIs(t, testkit.Err(wire.Append(nil, bad)), wire.ErrName)
	}
	require.Equal(t, io.EOF, testkit.Err(wire.NewDecoder(bytes.NewReader(nil), wire.DecoderOptions{}).Decode()))
}

// TestStackedBesides writes a dictionary that has stacked leaves and others: all are stacked when
// they are read.
func TestStackedBesides(t *testing.T) {
	row := func(n int) *tdict.TensorDict {
		td := tdict.New()
		require.NoError(t, td.Set("s", tensor.Must(tensor.New(tensor.Int8, n))))
		return td
	}
	td := tensor.Must(tdict.LazyStack([]*tdict.TensorDict{row(1), row(2)}, 0))
	require.NoError(t, td.Set("x", tensor.Vector[int32](1, 2)))
	require.NoError(t, td.Set("d/y", tensor.Vector[int32](3, 4)))
	require.NoError(t, td.Set("who", tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2))))
	require.NoError(t, td.Set("note", tensor.Must(tdict.NewData("same", 2))))
	require.NoError(t, td.Set("table", tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](7, 8, 9)))))
	require.NoError(t, td.SetClass("a.Frame"))
	var m wire.Message
	require.NoError(t, m.UnmarshalBinary(tensor.Must(wire.Append(nil, td))))
	require.Equal(t, td.Class(), m.Dict.Class())
	_, want, err := tdict.Members(td)
	require.NoError(t, err)
	_, got, err := tdict.Members(m.Dict)
	require.NoError(t, err)
	for i := range want {
		require.Empty(t, tensor.Must(want[i].Diff(got[i])))
	}
}

// TestTwoValuesOfOneKey: "text" beside "text.@pool", the parts of a ragged tensor "text", is
// refused, whatever it is and whatever comes first.
func TestTwoValuesOfOneKey(t *testing.T) {
	for name, other := range map[string]tdict.Value{
		"no other":       nil,
		"a tensor":       tensor.Vector[int8](3, 4),
		"data":           tensor.Must(tdict.NewData("x", 2)),
		"a dictionary":   tdict.New(2),
		"a lazy stack":   tensor.Must(tdict.LazyStack([]*tdict.TensorDict{tdict.New(), tdict.New()}, 0)),
		"data of a row":  tensor.Must(tdict.DataFrom([]string{"a", "b"}, 2)),
		"an own tensor":  tensor.Must(tdict.NewUnbatched(tensor.Vector[int8](3, 4))),
		"a jagged one":   tensor.Must(ragged.FromOffsets(tensor.Vector[int8](3, 4), []int64{0, 1, 2})),
		"another ragged": tensor.Must(ragged.New(tensor.Vector[int8](3, 4), tensor.Must(ragged.NewLayout([]int{2}, []int64{0, 1, 2}, []int64{0, 1, 2})))),
	} {
		for _, first := range []bool{true, false} {
			td := tdict.New(2)
			if other != nil && first {
				require.NoError(t, td.Set("text", other))
			}
			require.NoError(t, td.Set("text.-lengths", tensor.Vector[int64](1, 1)))
			require.NoError(t, td.Set("text.-pool", tensor.Must(tensor.Vector[int8](1, 2).Reshape(2, 1))))
			require.NoError(t, td.Set("text.-row", tensor.Vector[int64](0, 1)))
			if other != nil && !first {
				require.NoError(t, td.Set("text", other))
			}
			b := bytes.ReplaceAll(tensor.Must(wire.Append(nil, td)), []byte("text.-"), []byte("text.@"))
			var m wire.Message
			if err := m.UnmarshalBinary(b); other != nil {
				require.ErrorIs(t, err, wire.ErrCorrupt, name)
			} else {
				require.NoError(t, err)
				require.Equal(t, 1, m.Dict.NumEntries())
			}
		}
	}
}

// TestRaggedValuesAreReadOnce: Size does not read the values of a ragged tensor, and Append reads
// them once, though the row numbers depend on their checksum.
func TestRaggedValuesAreReadOnce(t *testing.T) {
	lent := &testkit.Lender{Bytes: []byte{1, 2, 3}}
	layout := tensor.Must(ragged.NewLayout([]int{2}, []int64{0, 1, 2}, []int64{0, 1, 3}))
	td := tdict.New(2)
	require.NoError(t, td.Set("r", tensor.Must(ragged.New(tensor.Must(tensor.FromLender(tensor.Int8, lent, 0, 3)), layout))))
	before := lent.Borrows()
	size := tensor.Must(wire.Size(td))
	require.Equal(t, before, lent.Borrows())
	b := tensor.Must(wire.Append(nil, td))
	require.Equal(t, before+1, lent.Borrows())
	require.Len(t, b, size)
	lent.Bytes[0] = 7
	require.NotEqual(t, b[:size/2], tensor.Must(wire.Append(nil, td))[:size/2])
	own := tensor.Must(td.Clone())
	require.Equal(t, tensor.Must(wire.Append(nil, own)), tensor.Must(wire.Append(nil, td)), "the same row numbers")
}
