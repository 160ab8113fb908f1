package message_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/endian"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

// allocated returns the bytes that fn allocates.
func allocated(fn func()) int64 {
	now := func() int64 {
		s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
		metrics.Read(s)
		return int64(s[0].Value.Uint64())
	}
	before := now()
	fn()
	return now() - before
}

// small are files of few bytes with most of what a file can have.
func small(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	for i, form := range forms {
		columns := [][]string{{"text", "list", "dict"}, {"int8", "struct", "dict"}, {"int64", "text"}, {"textview", "fixedlist"}}[i]
		rec := record(t, columns...)
		files[form.name] = written(t, form.stream, []arrow.RecordBatch{rec, rec.NewSlice(1, 3)}, form.opt...)
	}
	files["deltas"] = written(t, true, []arrow.RecordBatch{
		dictionaryBatch(t, `["a", "b"]`, `[0, 1]`), dictionaryBatch(t, `["a", "b", "c"]`, `[2, 0]`),
	}, ipc.WithDictionaryDeltas(true))
	return files
}

// TestEachByteChanged changes each byte of small files to several values. Nothing panics, errors
// are the promised ones, and memory stays in proportion to the file. It takes two seconds: for each
// of 20,000 changes, the file is read three times.
func TestEachByteChanged(t *testing.T) {
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			opt := message.Options{Path: "f", MaxMemory: 1 << 20}
			require.NoError(t, readAll(b, opt))
			failed, most := 0, int64(0)
			for i := range b {
				for _, v := range []byte{0, 0xff, b[i] + 1} {
					if v == b[i] {
						continue
					}
					was := b[i]
					b[i] = v
					var err error
					most = max(most, allocated(func() { err = readAll(b, opt) }))
					if err != nil {
						failed++
						require.True(t, classified(err), "byte %d: %v", i, err)
					}
					b[i] = was
				}
			}
			require.NotZero(t, failed)
			t.Logf("%d bytes: %d changes are errors; at most %d bytes allocated", len(b), failed, most)
			require.Less(t, most, int64(2<<20)) // decoders of lz4 and zstd have large tables
		})
	}
}

// TestEachCut cuts small files at each byte.
func TestEachCut(t *testing.T) {
	for name, b := range small(t) {
		t.Run(name, func(t *testing.T) {
			whole := 0
			for n := range b {
				err := readAll(b[:n:n], message.Options{})
				if err == nil {
					whole++
					continue
				}
				require.True(t, classified(err), "%d bytes: %v", n, err)
				if s, failed := message.NewStream(bytes.NewReader(b[:n]), message.Options{}); failed == nil {
					for ; failed == nil; _, failed = s.Next() {
					}
					var at *message.Error
					require.True(t, failed == io.EOF || errors.Is(failed, io.ErrUnexpectedEOF), "%d bytes: %v", n, failed)
					if failed != io.EOF {
						require.True(t, errors.As(failed, &at) && at.Part != "", "%d bytes: %v", n, failed)
					}
				}
			}
			require.Less(t, whole, 10) // a stream may end after each message
		})
	}
}

// A batchOf builds the flatbuffer of a batch.
type batchOf struct {
	version        int16
	rows           int64
	nodes, buffers [][2]int64
	variadic       []int64
	codec          int8 // -1 for none
	dictionary     int64
	delta          bool
	body           []byte
	claims         int64 // the length of the body, if not 0
}

// pairs writes a vector of two numbers each.
func pairs(b *flatbuffers.Builder, list [][2]int64) flatbuffers.UOffsetT {
	b.StartVector(16, len(list), 8)
	for _, p := range slices.Backward(list) {
		b.Prep(8, 16)
		b.PrependInt64(p[1])
		b.PrependInt64(p[0])
	}
	return b.EndVector(len(list))
}

// message returns the message.
func (m batchOf) message() []byte {
	b := flatbuffers.NewBuilder(0)
	nodes, buffers := pairs(b, m.nodes), pairs(b, m.buffers)
	b.StartVector(8, len(m.variadic), 8)
	for _, v := range slices.Backward(m.variadic) {
		b.PrependInt64(v)
	}
	variadic := b.EndVector(len(m.variadic))
	b.StartObject(2)
	b.PrependInt8Slot(0, m.codec, 9)
	codec := b.EndObject()
	b.StartObject(5)
	b.PrependInt64Slot(0, m.rows, 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	if m.codec >= 0 {
		b.PrependUOffsetTSlot(3, codec, 0)
	}
	b.PrependUOffsetTSlot(4, variadic, 0)
	header, kind := b.EndObject(), byte(3)
	if m.dictionary > 0 {
		b.StartObject(3)
		b.PrependInt64Slot(0, m.dictionary, 0)
		b.PrependUOffsetTSlot(1, header, 0)
		b.PrependBoolSlot(2, m.delta, false)
		header, kind = b.EndObject(), 2
	}
	return framed(b, kind, header, m.version, cmp.Or(m.claims, int64(len(m.body))), m.body)
}

// framed returns a message with a header.
func framed(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, version int16, claims int64, body []byte) []byte {
	b.StartObject(5)
	b.PrependInt16Slot(0, version, -1)
	b.PrependByteSlot(1, kind, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, claims, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	meta = append(meta, make([]byte, -len(meta)&7)...)
	return slices.Concat([]byte{255, 255, 255, 255}, le(uint64(len(meta)))[:4], meta, body)
}

// field writes a field with a type that has no parameters.
func field(b *flatbuffers.Builder, name string, kind byte, children ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	text := b.CreateString(name)
	b.StartObject(0)
	typ := b.EndObject()
	kids := b.CreateVectorOfTables(children)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, text, 0)
	b.PrependByteSlot(2, kind, 0)
	b.PrependUOffsetTSlot(3, typ, 0)
	b.PrependUOffsetTSlot(5, kids, 0)
	return b.EndObject()
}

// schemaOf returns the message of a schema.
func schemaOf(make func(b *flatbuffers.Builder) []flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(0)
	fields := b.CreateVectorOfTables(make(b))
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	return framed(b, 1, b.EndObject(), 4, 0, nil)
}

// The numbers of types.
const typeNull, typeUtf8, typeList, typeStruct = 1, 5, 12, 13

// nested returns a schema with structs in structs, with width children each, which are one.
func nested(depth, width int) []byte {
	return schemaOf(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
		f := field(b, "leaf", typeNull)
		for range depth {
			f = field(b, "s", typeStruct, slices.Repeat([]flatbuffers.UOffsetT{f}, width)...)
		}
		return []flatbuffers.UOffsetT{f}
	})
}

// TestHostile reads what no writer writes.
func TestHostile(t *testing.T) {
	schema := func(t *testing.T, names ...string) []byte {
		b := written(t, true, []arrow.RecordBatch{record(t, names...)})
		return b[:8+int(b[4])+int(b[5])<<8]
	}
	// with returns the messages of batches of a column, which begins with a good batch of nulls.
	with := func(name string, batches ...batchOf) func(*testing.T) []byte {
		return func(t *testing.T) []byte {
			b := schema(t, name)
			for _, m := range batches {
				m.version = 4
				b = append(b, m.message()...)
			}
			return b
		}
	}
	type list = [][2]int64
	body := make([]byte, 64)
	plain := func(length, nulls int64, buffers ...[2]int64) batchOf {
		return batchOf{rows: 4, nodes: list{{length, nulls}}, buffers: buffers, codec: -1, body: body}
	}
	packed := func(codec int8, size int64, buffers ...[2]int64) batchOf {
		return batchOf{rows: 4, nodes: list{{4, 0}}, buffers: buffers, codec: codec, body: append(le(uint64(size)), body...)}
	}
	big := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, nil).WithEndianness(endian.BigEndian)
	for _, tt := range []struct {
		name string
		make func(t *testing.T) []byte
		err  error // nil if it is read
		text string
	}{
		{"nothing", func(*testing.T) []byte { return nil }, io.ErrUnexpectedEOF, "schema"},
		{"feather version 1", func(*testing.T) []byte { return []byte("FEA1aaaaaaaaaFEA1") }, message.ErrUnsupported, "Feather"},
		{"not arrow", func(*testing.T) []byte { return []byte("a,b,c\n1,2,3\n") }, message.ErrCorrupt, "neither a file nor a stream"},
		{"big-endian", func(t *testing.T) []byte {
			var b bytes.Buffer
			require.NoError(t, ipc.NewWriter(&b, ipc.WithSchema(big)).Close())
			return b.Bytes()
		}, message.ErrUnsupported, "big-endian"},
		{"no schema", func(*testing.T) []byte { return plain(4, 0).message() }, message.ErrUnsupported, "version 1"},

		{"64 levels", func(*testing.T) []byte { return nested(64, 1) }, nil, ""},
		{"65 levels", func(*testing.T) []byte { return nested(65, 1) }, message.ErrCorrupt, "more than 64 deep"},
		{"2^30 fields that are one", func(*testing.T) []byte { return nested(30, 2) }, message.ErrCorrupt, "used repeatedly"},
		{"10^7 columns", func(*testing.T) []byte {
			return schemaOf(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
				return slices.Repeat([]flatbuffers.UOffsetT{field(b, "a", typeNull)}, 10_000_000)
			})
		}, message.ErrCorrupt, "10000000 columns"},
		{"a list without values", func(*testing.T) []byte {
			return schemaOf(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
				return []flatbuffers.UOffsetT{field(b, "a", typeList)}
			})
		}, message.ErrCorrupt, "schema"},
		{"an unknown type", func(*testing.T) []byte {
			return schemaOf(func(b *flatbuffers.Builder) []flatbuffers.UOffsetT {
				return []flatbuffers.UOffsetT{field(b, "a", 99)}
			})
		}, message.ErrCorrupt, `"a" has type 99`},

		{"a batch", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 32})), nil, ""},
		{"too few values", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 24})), message.ErrCorrupt, `batch 0: column "int64"`},
		{"rows that are not there", with("int64", plain(3, 0, [2]int64{0, 0}, [2]int64{0, 32})), message.ErrCorrupt, "got 3 values, want 4"},
		{"2^62 values, of which those of the rows are read", with("int64", plain(1<<62, 0, [2]int64{0, 0}, [2]int64{0, 32})), nil, ""},
		{"2^62 rows", with("int64", batchOf{rows: 1 << 62, nodes: list{{1 << 62, 0}}, buffers: list{{0, 0}, {0, 32}}, codec: -1, body: body}), message.ErrCorrupt, "values of 64 bits"},
		{"2^62 nulls", with("null", batchOf{rows: 1 << 62, nodes: list{{1 << 62, 1 << 62}}, codec: -1}), message.ErrMemory, "MaxMemory"},
		{"negative rows", with("null", batchOf{rows: -1, nodes: list{{0, 0}}, codec: -1}), message.ErrCorrupt, "-1 rows"},
		{"negative length", with("int64", plain(-4, 0)), message.ErrCorrupt, "-4 values"},
		{"more nulls than values", with("int64", plain(4, 5)), message.ErrCorrupt, "5 of them null"},
		{"nulls without a bitmap", with("int64", plain(4, 1, [2]int64{0, 0}, [2]int64{0, 32})), message.ErrCorrupt, "want 1"},
		{"a buffer after the body", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{40, 32})), message.ErrCorrupt, "at byte 40"},
		{"a negative offset", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{-8, 32})), message.ErrCorrupt, "at byte -8"},
		{"an offset that overflows", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{1<<63 - 8, 32})), message.ErrCorrupt, "body of 64"},
		{"buffers that are one", with("text", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 40}, [2]int64{0, 40})), message.ErrCorrupt, "more bytes together"},
		{"a buffer that is not aligned", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{3, 32})), nil, ""},
		{"too few buffers", with("int64", plain(4, 0, [2]int64{0, 0})), message.ErrCorrupt, "too few buffers"},
		{"too many buffers", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 32}, [2]int64{0, 0})), message.ErrCorrupt, "1 buffers more"},
		{"no nodes", with("int64", batchOf{rows: 4, codec: -1}), message.ErrCorrupt, "too few nodes"},
		{"views without their number", with("textview", plain(4, 0)), message.ErrCorrupt, "numbers of buffers"},
		{"2^60 buffers of views", with("textview", batchOf{rows: 4, nodes: list{{4, 0}}, variadic: []int64{1 << 60}, codec: -1}), message.ErrCorrupt, "at most 0"},
		{"lists of 2^62 values", with("fixedlist", batchOf{rows: 1 << 62, nodes: list{{1 << 62, 0}, {0, 0}}, buffers: list{{0, 0}}, codec: -1}), message.ErrMemory, ""},
		{"the second batch", with("int64", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 32}), plain(4, 0, [2]int64{0, 0}, [2]int64{0, 8})), message.ErrCorrupt, "batch 1: column"},

		{"an unknown codec", with("int64", packed(7, 32, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrUnsupported, "codec 7"},
		{"zstd of 2^40 bytes", with("int64", packed(1, 1<<40, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrCorrupt, "64 bytes that say they are 1099511627776"},
		{"lz4 of 2^40 bytes", with("int64", packed(0, 1<<40, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrCorrupt, "64 bytes that say they are 1099511627776"},
		{"zstd of more than MaxMemory", with("int64", packed(1, 2_000_000, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrMemory, "2000000 bytes"},
		{"a negative size", with("int64", packed(1, -2, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrCorrupt, "of -2 bytes"},
		{"stored as it is", with("int64", packed(1, -1, [2]int64{0, 0}, [2]int64{0, 72})), nil, ""},
		{"not zstd", with("int64", packed(1, 64, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrCorrupt, `batch 0: column "int64"`},
		{"not lz4", with("int64", packed(0, 64, [2]int64{0, 0}, [2]int64{0, 72})), message.ErrCorrupt, `batch 0: column "int64"`},
		{"no size", with("int64", packed(0, 64, [2]int64{0, 0}, [2]int64{0, 7})), message.ErrCorrupt, "want its size"},

		{"no dictionary", with("dict", plain(4, 0, [2]int64{0, 0}, [2]int64{0, 8})), message.ErrCorrupt, "was not read"},
		{"an unknown dictionary", with("dict", batchOf{dictionary: 77, codec: -1}, plain(4, 0)), message.ErrCorrupt, "dictionary 77"},
		{"a body of 2^50 bytes", with("int64", batchOf{rows: 4, codec: -1, claims: 1 << 50}), io.ErrUnexpectedEOF, "batch 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := tt.make(t)
			opt := message.Options{Path: "f.arrow", MaxMemory: 1 << 20}
			var err error
			got := allocated(func() { err = readAll(b, opt) })
			require.Less(t, got, int64(2<<20+20*len(b)))
			if tt.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.err)
			require.ErrorContains(t, err, tt.text)
			require.ErrorContains(t, err, "f.arrow: ")
		})
	}
}

// TestFooter changes the numbers of a footer.
func TestFooter(t *testing.T) {
	rec := record(t, "int64", "dict")
	whole := written(t, false, []arrow.RecordBatch{rec, rec})
	end := len(whole) - 10
	footer := end - int(le32(whole[end:]))
	// blocks are the positions of the 24 bytes of each block: offset, length of the flatbuffer, of
	// the body
	var blocks []int
	for i := footer; i < end-24; i += 4 {
		at, meta := int(le32(whole[i:])), int(le32(whole[i+8:]))
		if at > 0 && at%8 == 0 && at+8 < footer && meta > 8 && meta < 2000 && bytes.Equal(whole[at:at+4], []byte{255, 255, 255, 255}) && meta == 8+int(le32(whole[at+4:])) {
			blocks = append(blocks, i)
		}
	}
	require.Len(t, blocks, 3)
	set := func(block, field int, v uint64) func(b []byte) []byte {
		return func(b []byte) []byte {
			n := 8
			if field == 8 {
				n = 4
			}
			copy(b[blocks[block]+field:], le(v)[:n])
			return b
		}
	}
	for _, tt := range []struct {
		name   string
		change func(b []byte) []byte
		text   string
	}{
		{"no magic at the end", func(b []byte) []byte { return b[:len(b)-1] }, "footer"},
		{"a footer of more bytes than the file", func(b []byte) []byte { copy(b[end:], le(uint64(len(b)))[:4]); return b }, "footer"},
		{"a footer of no bytes", func(b []byte) []byte { copy(b[end:], le(0)[:4]); return b }, "footer"},
		{"a block after the file", set(0, 0, 1<<40), "before the footer"},
		{"a negative offset", set(0, 0, 1<<64-8), "before the footer"},
		{"a block in the footer", set(1, 0, uint64(footer)&^7), "before the footer"},
		{"a block in the magic", set(1, 0, 0), "before the footer"},
		{"a block at an odd byte", set(1, 0, 9), "before the footer"},
		{"a flatbuffer of no bytes", set(1, 8, 0), "before the footer"},
		{"a negative flatbuffer", set(1, 8, 1<<32-8), "before the footer"},
		{"a body of 2^62 bytes", set(2, 16, 1<<62), "before the footer"},
		{"a body of other bytes than the message says", set(2, 16, 8), "body of"},
		{"a batch for a dictionary", func(b []byte) []byte {
			for i := range 3 {
				copy(b[blocks[i]:][:24], whole[blocks[1]:])
			}
			return b
		}, "kind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := readAll(tt.change(slices.Clone(whole)), message.Options{})
			require.ErrorContains(t, err, tt.text)
			require.True(t, classified(err), err)
		})
	}
}

// le32 returns the number in 4 bytes.
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// le returns the 8 bytes of a number.
func le(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// FuzzOpen reads any bytes to the effect, as a file and as a stream: all values of all batches.
func FuzzOpen(f *testing.F) {
	for _, b := range small(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := readAll(b, message.Options{MaxMemory: 1 << 20}); err != nil && !classified(err) {
			t.Fatal(err)
		}
	})
}
