package message_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

// messages splits a stream into messages with their prefixes.
func messages(b []byte) (all [][]byte, meta []int) {
	for len(b) > 8 {
		size := int(le32(b[4:]))
		root := int(le32(b[8:])) + 8
		vt := root - int(int32(le32(b[root:])))
		body := 0
		if field := int(le32(b[vt+4+2*3:]) & 0xffff); vt+4+2*3 < vt+int(le32(b[vt:])&0xffff) && field > 0 {
			body = int(le32(b[root+field:]))
		}
		n := 8 + size + body
		all, meta, b = append(all, b[:n]), append(meta, 8+size), b[n:]
	}
	return all, meta
}

// TestOldStreams reads streams without continuation markers, as libraries wrote before 0.15, and
// with either end.
func TestOldStreams(t *testing.T) {
	rec := record(t, "int64", "text", "dict")
	all, _ := messages(written(t, true, []arrow.RecordBatch{rec, rec}))
	require.Len(t, all, 4)
	var old []byte
	for _, m := range all {
		old = append(old, m[4:]...)
	}
	for _, end := range [][]byte{nil, {0, 0, 0, 0}, {255, 255, 255, 255, 0, 0, 0, 0}, {0, 0, 0, 0, 'x'}} {
		n := 0
		check := func(_ int, got arrow.RecordBatch) {
			require.True(t, array.RecordEqual(rec, got))
			n++
		}
		b := slices.Concat(old, end)
		require.NoError(t, each(b, message.Options{}, check))
		require.NoError(t, eachStreamed(b, message.Options{}, check))
		require.Equal(t, 4, n)
	}
}

// fileOf returns a file with a column "d" of int8 indices into a dictionary of texts with id 1.
func fileOf(dicts, batches []batchOf) []byte {
	b := []byte("ARROW1\x00\x00")
	var blocks [2][][3]int64
	for i, list := range [][]batchOf{dicts, batches} {
		for _, m := range list {
			m.version = 4
			raw := m.message()
			blocks[i] = append(blocks[i], [3]int64{int64(len(b)), int64(len(raw) - len(m.body)), int64(len(m.body))})
			b = append(b, raw...)
		}
	}
	f := flatbuffers.NewBuilder(0)
	name := f.CreateString("d")
	f.StartObject(0)
	typ := f.EndObject()
	f.StartObject(2)
	f.PrependInt32Slot(0, 8, 0)
	f.PrependBoolSlot(1, true, false)
	index := f.EndObject()
	f.StartObject(3)
	f.PrependInt64Slot(0, 1, 0)
	f.PrependUOffsetTSlot(1, index, 0)
	dict := f.EndObject()
	f.StartObject(7)
	f.PrependUOffsetTSlot(0, name, 0)
	f.PrependByteSlot(2, typeUtf8, 0)
	f.PrependUOffsetTSlot(3, typ, 0)
	f.PrependUOffsetTSlot(4, dict, 0)
	fields := f.CreateVectorOfTables([]flatbuffers.UOffsetT{f.EndObject()})
	f.StartObject(4)
	f.PrependUOffsetTSlot(1, fields, 0)
	schema := f.EndObject()
	var vectors [2]flatbuffers.UOffsetT
	for i, list := range blocks {
		f.StartVector(24, len(list), 8)
		for _, block := range slices.Backward(list) {
			f.Prep(8, 24)
			f.PrependInt64(block[2])
			f.PrependInt64(block[1])
			f.PrependInt64(block[0])
		}
		vectors[i] = f.EndVector(len(list))
	}
	f.StartObject(5)
	f.PrependInt16Slot(0, 4, 0)
	f.PrependUOffsetTSlot(1, schema, 0)
	f.PrependUOffsetTSlot(2, vectors[0], 0)
	f.PrependUOffsetTSlot(3, vectors[1], 0)
	f.Finish(f.EndObject())
	footer := f.FinishedBytes()
	return slices.Concat(b, footer, le(uint64(len(footer)))[:4], []byte("ARROW1"))
}

// texts returns a batch of a dictionary of texts of one byte.
func texts(text string, delta bool) batchOf {
	var offsets []byte
	for i := range len(text) + 1 {
		offsets = append(offsets, le(uint64(i))[:4]...)
	}
	offsets = append(offsets, make([]byte, -len(offsets)&7)...)
	body := append(offsets, text...)
	n := int64(len(text))
	return batchOf{dictionary: 1, delta: delta, rows: n, nodes: [][2]int64{{n, 0}}, codec: -1,
		buffers: [][2]int64{{0, 0}, {0, 4 * (n + 1)}, {int64(len(offsets)), n}}, body: append(body, make([]byte, -len(body)&7)...)}
}

// codes returns a batch of indices.
func codes(index ...byte) batchOf {
	n := int64(len(index))
	return batchOf{rows: n, nodes: [][2]int64{{n, 0}}, codec: -1, buffers: [][2]int64{{0, 0}, {0, n}}, body: append(index, make([]byte, -len(index)&7)...)}
}

// TestDictionariesOfAFile holds that the dictionaries of a file are known before its batches, that
// later parts are appended, and that none is replaced.
func TestDictionariesOfAFile(t *testing.T) {
	b := fileOf([]batchOf{texts("ab", false), texts("cd", true)}, []batchOf{codes(0, 3), codes(2)})
	got := ""
	require.NoError(t, each(b, message.Options{}, func(_ int, rec arrow.RecordBatch) {
		for i := range rec.Column(0).Len() {
			got += rec.Column(0).ValueStr(i)
		}
	}))
	require.Equal(t, "adc", got)
	f, err := message.Open(b, message.Options{})
	require.NoError(t, err)
	facts, err := f.Facts()
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c", "d"}, facts.Texts(0))

	for name, dicts := range map[string][]batchOf{
		"one dictionary":           {texts("ab", false), texts("cd", false)},
		"that was not read":        {texts("ab", true)},
		"is used, but was not":     nil,
		"invalid offsets in delta": {texts("ab", false), func() batchOf { m := texts("cd", true); m.body[4] = 9; return m }()},
	} {
		err := readAll(fileOf(dicts, []batchOf{codes(0)}), message.Options{})
		require.ErrorIs(t, err, message.ErrCorrupt, name)
	}
}

// TestBlocksThatAreOne lists one batch many times: more rows than the file has bytes for.
func TestBlocksThatAreOne(t *testing.T) {
	b := fileOf([]batchOf{texts("ab", false)}, []batchOf{codes(make([]byte, 1000)...), codes(0), codes(0), codes(0), codes(0)})
	require.NoError(t, readAll(b, message.Options{}))
	end := len(b) - 10
	footer := b[end-int(le32(b[end:])) : end]
	large := le(uint64(8 + len(texts("ab", false).message())))
	at := bytes.Index(footer, large)
	require.Positive(t, at)
	for i := 1; i < 5; i++ {
		copy(footer[at+24*i:][:24], footer[at:])
	}
	err := readAll(b, message.Options{})
	require.ErrorContains(t, err, "more bytes than the file")
}

// TestHighlyCompressed reads columns that are thousands of times smaller than their values.
func TestHighlyCompressed(t *testing.T) {
	const n = 1 << 20
	zeros := array.NewInt64Data(array.NewData(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 8*n))}, nil, 0, 0))
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{zeros}, n)
	for _, form := range forms[2:] {
		b := written(t, form.stream, []arrow.RecordBatch{rec, rec}, form.opt...)
		require.Less(t, len(b), 8*n/100)
		check := func(_ int, got arrow.RecordBatch) { require.True(t, array.RecordEqual(rec, got)) }
		require.NoError(t, each(b, message.Options{}, check))
		require.NoError(t, eachStreamed(b, message.Options{}, check))
		got := allocated(func() {
			require.ErrorIs(t, readAll(b, message.Options{MaxMemory: 8*n - 1}), message.ErrMemory)
		})
		require.Less(t, got, int64(1<<20))
	}
}

// TestMemoryIsUsedAgain holds that batches after the first allocate little.
func TestMemoryIsUsedAgain(t *testing.T) {
	x := make([]byte, 1<<20)
	for i := range x {
		x[i] = byte(i * i >> 3)
	}
	a := array.NewInt8Data(array.NewData(arrow.PrimitiveTypes.Int8, len(x), []*memory.Buffer{nil, memory.NewBufferBytes(x)}, nil, 0, 0))
	rec := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, nil), []arrow.Array{a}, int64(len(x)))
	for _, form := range forms {
		b := written(t, true, slices.Repeat([]arrow.RecordBatch{rec}, 20), form.opt...)
		got := allocated(func() { require.NoError(t, eachStreamed(b, message.Options{}, func(int, arrow.RecordBatch) {})) })
		require.Less(t, got, int64(16<<20), form.name) // of 40 MiB; zstd takes some for each
	}
}

// TestOtherColumnsAreNotRead breaks the compressed bytes of a column: the other one is read.
func TestOtherColumnsAreNotRead(t *testing.T) {
	zstd := []byte{0x28, 0xb5, 0x2f, 0xfd}
	rec := record(t, "int32", "float64")
	b := written(t, false, []arrow.RecordBatch{rec, rec}, ipc.WithZstd())
	b[bytes.LastIndex(b, zstd)]++
	f, err := message.Open(b, message.Options{})
	require.NoError(t, err)
	_, err = f.Batch(1)
	require.ErrorContains(t, err, `batch 1: column "float64"`)
	f.Select([]int{0})
	got, err := f.Batch(1)
	require.NoError(t, err)
	require.True(t, array.Equal(rec.Column(0), got.Column(0)))
}
