package torchzip_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/torchzip"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tensor"
)

// archive returns an archive with a pickle and a storage.
func archive(t testing.TB, pickle string, storage []byte, more ...[2]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range append([][2]string{{"data.pkl", pickle}, {"data/0", string(storage)}}, more...) {
		f, err := w.CreateHeader(&zip.FileHeader{Name: "x/" + e[0], Method: zip.Store})
		require.NoError(t, err)
		_, err = io.WriteString(f, e[1])
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// A view is the parts of the pickle of a tensor.
type view struct{ fn, class, device, n, offset, shape, strides, end string }

func (v view) pickle() string {
	return "\x80\x02ctorch._utils\n" + v.fn + "\n((X\x07\x00\x00\x00storagec" + v.class + "\nX\x01\x00\x00\x000" +
		"X" + string(rune(len(v.device))) + "\x00\x00\x00" + v.device + v.n + "tQ" + v.offset + "(" + v.shape + "t(" + v.strides + "t\x89ccollections\nOrderedDict\n)R" + v.end
}

func plain() view {
	return view{"_rebuild_tensor_v2", "torch\nByteStorage", "cpu", "K\x06", "K\x00", "K\x02K\x03", "K\x03K\x01", "tR."}
}

// TestAdvice: the error of what torch.save wrote says what to save instead. The pickles begin as
// those of torch 2 do.
func TestAdvice(t *testing.T) {
	begun := "\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(K\x00"
	for name, tt := range map[string]struct{ pickle, got, save string }{
		"a dict":      {"\x80\x02}q\x00X\x01\x00\x00\x00a.", "got a dict", "one of its tensors"},
		"a list":      {"\x80\x02]q\x00.", "got a list", "one of its tensors"},
		"a tuple":     {"\x80\x02K\x01\x85q\x00.", "got a tuple", "one of its tensors"},
		"a conjugate": {begun + "}q\x01X\x04\x00\x00\x00conj\x88stR.", "got a tensor with metadata, such as a conjugate or negative view", "x.resolve_conj().resolve_neg()"},
		"sparse":      {"\x80\x02ctorch._utils\n_rebuild_sparse_tensor\n(ctorch.serialization\n_get_layout\nX\x01\x00\x00\x00s\x85R.", "got a sparse tensor", "x.to_dense()"},
		"quantized":   {strings.Replace(plain().pickle(), "ByteStorage", "QUInt8Storage", 1), `got elements of class "torch\nQUInt8Storage\n"`, "x.dequantize()"},
		"a parameter": {"\x80\x02ctorch._utils\n_rebuild_parameter\nK\x01\x85R.", `got a call of "torch._utils\n_rebuild_parameter\n" with 1 arguments`, "x.detach().cpu()"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := read(archive(t, tt.pickle, make([]byte, 6)))
			require.ErrorIs(t, err, torchzip.ErrUnsupported)
			require.ErrorContains(t, err, tt.got+", want one tensor: save "+tt.save)
		})
	}
}

// TestHostile opens files that are damaged, or hold something else, each unlike a good one in one
// thing.
func TestHostile(t *testing.T) {
	const huge, negative = "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", "J\xff\xff\xff\xff"
	corrupt, unsupported := torchzip.ErrCorrupt, torchzip.ErrUnsupported
	tests := []struct {
		name   string
		change func(v *view)
		want   error
	}{
		{"unchanged", func(v *view) {}, nil},
		{"a storage longer than the entry", func(v *view) { v.n = "K\x07" }, corrupt},
		{"a storage shorter than the entry", func(v *view) { v.n = "K\x05" }, corrupt},
		{"a negative storage", func(v *view) { v.n = negative }, corrupt},
		{"a huge storage", func(v *view) { v.n = huge }, corrupt},
		{"an offset beyond the storage", func(v *view) { v.offset = "K\x01" }, corrupt},
		{"a huge offset", func(v *view) { v.offset = huge }, corrupt},
		{"a negative offset", func(v *view) { v.offset = negative }, corrupt},
		{"a size too large", func(v *view) { v.shape = "K\x03K\x03" }, corrupt},
		{"a shape too large to count", func(v *view) { v.shape = huge + huge }, corrupt},
		{"a negative size", func(v *view) { v.shape = negative + "K\x03" }, corrupt},
		{"strides that overflow", func(v *view) { v.strides = huge + huge }, corrupt},
		{"a negative stride", func(v *view) { v.strides = negative + "K\x01" }, corrupt},
		{"a long of 5 bytes", func(v *view) { v.n = "\x8a\x05\x06\x00\x00\x00\x00" }, nil},
		{"fewer strides than sizes", func(v *view) { v.strides = "K\x01" }, corrupt},
		{"a shape of strings", func(v *view) { v.shape = "X\x00\x00\x00\x00" + v.shape }, corrupt},
		{"too many dims", func(v *view) {
			v.shape = strings.Repeat("K\x01", 65)
			v.strides = v.shape
		}, corrupt},
		{"another device", func(v *view) { v.device = "cuda" }, unsupported},
		{"another class", func(v *view) { v.class = "torch\nQInt8Storage" }, unsupported},
		{"a class without a dtype", func(v *view) { v.class = "torch.storage\nUntypedStorage" }, corrupt},
		{"another function", func(v *view) { v.fn = "_rebuild_parameter" }, unsupported},
		{"a function of other arguments", func(v *view) { v.end = "NtR." }, unsupported},
		{"more arguments", func(v *view) { v.end = "K\x00tR." }, unsupported},
		{"a value under the tensor", func(v *view) { v.end = "tRK\x00." }, unsupported},
		{"bytes after the tensor", func(v *view) { v.end = "tR.." }, corrupt},
		{"a dict", func(v *view) { v.end = "tR}." }, unsupported},
		{"no end", func(v *view) { v.end = "tR" }, corrupt},
		{"a tuple without a mark", func(v *view) { v.end = "tRtt." }, corrupt},
		{"a long text", func(v *view) { v.end = "X\xff\xff\xff\xfftR." }, corrupt},
		{"a long integer", func(v *view) { v.end = "\x8a\xff" + strings.Repeat("\xff", 255) + "tR." }, corrupt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := plain()
			test.change(&v)
			_, err := read(archive(t, v.pickle(), []byte("abcdef")))
			if test.want == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, test.want)
			classified(t, err)
		})
	}
}

// TestLongs has a storage of -1 byte, as Python reads it, that has 255.
func TestLongs(t *testing.T) {
	v := plain()
	v.n, v.shape, v.strides = "\x8a\x01\xff", "K\xff", "K\x01"
	_, err := read(archive(t, v.pickle(), make([]byte, 255)))
	require.ErrorIs(t, err, torchzip.ErrCorrupt)
}

// TestPickles interprets pickles that have nothing of a tensor.
func TestPickles(t *testing.T) {
	for pickle, want := range map[string]error{
		"":       torchzip.ErrCorrupt,
		".":      torchzip.ErrCorrupt,
		"R.":     torchzip.ErrCorrupt,
		"Q.":     torchzip.ErrCorrupt,
		"c":      torchzip.ErrCorrupt,
		"h\x07.": torchzip.ErrUnsupported,
		"K\x01.": torchzip.ErrUnsupported,
		"]":      torchzip.ErrUnsupported,
		"cposix\nsystem\n(X\x02\x00\x00\x00lstR.":                                     torchzip.ErrUnsupported,
		strings.Repeat("(", 70000):                                                    torchzip.ErrUnsupported,
		"(" + strings.Repeat("(", 30000) + strings.Repeat("t", 30001) + ".":           torchzip.ErrUnsupported, // deep
		")q\x00" + strings.Repeat("h\x00h\x00\x86q\x00", 10000) + "ctorch\nload\nQR.": torchzip.ErrUnsupported, // 2^10000 leaves
	} {
		_, err := read(archive(t, pickle, nil))
		require.ErrorIs(t, err, want, "%.20q", pickle)
		classified(t, err)
	}
}

// TestArchives opens archives around a good pickle.
func TestArchives(t *testing.T) {
	good := plain()
	tests := []struct {
		name string
		file []byte
		want error
	}{
		{"big byte order", archive(t, good.pickle(), []byte("abcdef"), [2]string{"byteorder", "big"}), torchzip.ErrUnsupported},
		{"a bool that is none", archive(t, strings.Replace(good.pickle(), "Byte", "Bool", 1), []byte("\x00\x01\x02\x00\x01\x00")), torchzip.ErrCorrupt},
		{"an element flipped", bytes.Replace(archive(t, good.pickle(), []byte("abcdef")), []byte("abcdef"), []byte("abcdeg"), 1), torchzip.ErrCorrupt},
		{"nothing", nil, torchzip.ErrCorrupt},
		{"an empty archive", []byte("PK\x05\x06" + strings.Repeat("\x00", 18)), torchzip.ErrCorrupt},
		{"other bytes", []byte(strings.Repeat("x", 100)), torchzip.ErrCorrupt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := read(test.file)
			require.ErrorIs(t, err, test.want)
			classified(t, err)
		})
	}
}

// TestEntries opens archives whose entries are written in other ways than torch's: they are read as
// they are, or refused.
func TestEntries(t *testing.T) {
	want := tensor.Must(tensor.From([]uint8("abcdef"), 2, 3))
	entry := func(name, content string, method, flags uint16) zipEntry {
		return zipEntry{name, content, method, flags}
	}
	pickle := entry("x/data.pkl", plain().pickle(), zip.Store, 0)
	for _, tt := range []struct {
		name    string
		entries []zipEntry
		wide    bool
		want    error
	}{
		{"headers with sizes", []zipEntry{pickle, entry("x/data/0", "abcdef", zip.Store, 0)}, false, nil},
		{"data descriptors", []zipEntry{entry("x/data.pkl", plain().pickle(), zip.Store, 8), entry("x/data/0", "abcdef", zip.Store, 8)}, false, nil},
		{"zip64 sizes", []zipEntry{pickle, entry("x/data/0", "abcdef", zip.Store, 0)}, true, nil},
		{"zip64 sizes in data descriptors", []zipEntry{entry("x/data.pkl", plain().pickle(), zip.Store, 8), entry("x/data/0", "abcdef", zip.Store, 8)}, true, nil},
		{"a storage twice", []zipEntry{pickle, entry("x/data/0", "abcdef", zip.Store, 0), entry("x/data/0", "ghijkl", zip.Store, 0)}, false, torchzip.ErrCorrupt},
		{"a pickle twice", []zipEntry{pickle, pickle, entry("x/data/0", "abcdef", zip.Store, 0)}, false, torchzip.ErrCorrupt},
		{"a storage that leaves the archive", []zipEntry{pickle, entry("x/../x/data/0", "abcdef", zip.Store, 0)}, false, torchzip.ErrCorrupt},
		{"a storage of another folder", []zipEntry{pickle, entry("y/data/0", "abcdef", zip.Store, 0)}, false, torchzip.ErrCorrupt},
		{"an encrypted storage", []zipEntry{pickle, entry("x/data/0", "abcdef", zip.Store, 1)}, false, torchzip.ErrUnsupported},
		{"another method", []zipEntry{pickle, entry("x/data/0", "abcdef", 12, 0)}, false, torchzip.ErrUnsupported},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := read(zipped(tt.wide, tt.entries...))
			if tt.want != nil {
				require.ErrorIs(t, err, tt.want)
				classified(t, err)
				return
			}
			require.NoError(t, err)
			require.True(t, got.Equal(want), "%v", got)
		})
	}
}

// A zipEntry is an entry of an archive, with its flags.
type zipEntry struct {
	name, content string
	method, flags uint16
}

// zipped returns an archive. If wide, each entry has zip64 sizes.
func zipped(wide bool, entries ...zipEntry) []byte {
	var body, dir []byte
	le := binary.LittleEndian
	for _, e := range entries {
		sum, size, at := crc32.ChecksumIEEE([]byte(e.content)), uint32(len(e.content)), uint32(len(body))
		extra, version := []byte(nil), uint16(20)
		if wide {
			extra, version = le.AppendUint64(le.AppendUint64([]byte{1, 0, 16, 0}, uint64(size)), uint64(size)), 45
		}
		sizes := func(b []byte, known bool) []byte { // sum, packed and unpacked size, lengths of name and extra field
			switch {
			case !known && wide:
				b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 0), ^uint32(0)), ^uint32(0))
			case !known:
				b = append(b, make([]byte, 12)...)
			case wide:
				b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, sum), ^uint32(0)), ^uint32(0))
			default:
				b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, sum), size), size)
			}
			return le.AppendUint16(le.AppendUint16(b, uint16(len(e.name))), uint16(len(extra)))
		}
		start := func(b []byte, mark string) []byte {
			b = append(b, mark...)
			if mark == "PK\x01\x02" {
				b = le.AppendUint16(b, version)
			}
			b = le.AppendUint16(le.AppendUint16(le.AppendUint16(b, version), e.flags), e.method)
			return append(b, 0, 0, 0x21, 0) // time and date
		}
		later := e.flags&8 != 0
		local := extra
		if later && wide {
			local = append([]byte{1, 0, 16, 0}, make([]byte, 16)...)
		}
		body = append(append(append(sizes(start(body, "PK\x03\x04"), !later), e.name...), local...), e.content...)
		if later {
			body = le.AppendUint32(append(body, "PK\x07\x08"...), sum)
			for range 2 {
				if wide {
					body = le.AppendUint64(body, uint64(size))
				} else {
					body = le.AppendUint32(body, size)
				}
			}
		}
		dir = append(sizes(start(dir, "PK\x01\x02"), true), make([]byte, 10)...) // comment, disk, attributes
		dir = append(append(le.AppendUint32(dir, at), e.name...), extra...)
	}
	n := uint16(len(entries))
	end := le.AppendUint16(le.AppendUint16(append([]byte("PK\x05\x06"), 0, 0, 0, 0), n), n)
	end = le.AppendUint32(le.AppendUint32(end, uint32(len(dir))), uint32(len(body)))
	return append(append(append(body, dir...), end...), 0, 0)
}

// TestWriteRefuses writes what cannot be written.
func TestWriteRefuses(t *testing.T) {
	require.ErrorIs(t, torchzip.Write(io.Discard, nil), shapeops.ErrKind)
	require.ErrorIs(t, torchzip.Write(io.Discard, tensor.Must(tensor.NewMeta(tensor.Bool, 2))), tensor.ErrMeta)
	_, err := torchzip.NewLayout(tensor.Bool, -1)
	require.ErrorIs(t, err, shapeops.ErrShape)
	_, err = torchzip.NewLayout(0, 1)
	require.ErrorIs(t, err, tensor.ErrDType)
	_, err = torchzip.NewLayout(tensor.Bool, make([]int, 65)...)
	require.ErrorIs(t, err, torchzip.ErrUnsupported)
	f, err := torchzip.Open(bytes.NewReader(file(t, "view.pt")), int64(len(file(t, "view.pt"))))
	require.NoError(t, err)
	require.ErrorIs(t, f.ReadInto(nil), shapeops.ErrKind)
	require.ErrorIs(t, f.ReadInto(tensor.Must(tensor.Zeros[uint8](9))), shapeops.ErrShape)
	require.ErrorIs(t, f.ReadInto(tensor.Must(tensor.Zeros[int8](10))), tensor.ErrDType)
	for n := range 5 { // every write fails once
		err := torchzip.Write(&full{n}, tensor.Vector[uint8](1, 2))
		require.Equal(t, n < 3, errors.Is(err, errFull), "%d", n)
	}
}

var errFull = errors.New("full")

// A full writer has room for n writes.
type full struct{ n int }

func (f *full) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestLarge lays out files of more than 4 GiB, which no one writes: the sizes have 64 bits.
func TestLarge(t *testing.T) {
	l, err := torchzip.NewLayout(tensor.Float32, 1<<20, 1<<11)
	require.NoError(t, err)
	f := spliced{l.Head(), 8 << 30, l.Tail(0)}
	require.Equal(t, int(f.size()), l.Size())
	got, err := torchzip.Open(f, f.size())
	require.NoError(t, err)
	require.Equal(t, shapeops.Shape{1 << 20, 1 << 11}, got.Meta().Shape())
	testkit.MaxBytes(t, 64<<10, func() { l.Tail(1) })
}

// A spliced is a file with zeros between head and tail.
type spliced struct {
	head  []byte
	zeros int64
	tail  []byte
}

func (s spliced) size() int64 { return int64(len(s.head)) + s.zeros + int64(len(s.tail)) }

func (s spliced) ReadAt(b []byte, at int64) (int, error) {
	n := 0
	for ; n < len(b) && at < s.size(); n, at = n+1, at+1 {
		switch tail := at - int64(len(s.head)) - s.zeros; {
		case at < int64(len(s.head)):
			b[n] = s.head[at]
		case tail >= 0:
			b[n] = s.tail[tail]
		default:
			b[n] = 0
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// FuzzOpen opens files, and reads every element of the tensors that it gets. What was read is
// written and read again.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"uint8-3x4.pt", "uint16-2x3x4.pt", "view.pt", "transposed.pt", "expanded.pt", "bool-scalar.pt", "legacy.pt", "evil.pt", "dict.pt"} {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) { checkRead(t, b) })
}

// FuzzPickle does the same with a pickle in an archive of zeros.
func FuzzPickle(f *testing.F) {
	f.Add(plain().pickle(), 6)
	typed := plain()
	typed.fn, typed.class, typed.end = "_rebuild_tensor_v3", "torch.storage\nUntypedStorage", "ctorch\nuint16\ntR."
	f.Add(typed.pickle(), 6)
	f.Fuzz(func(t *testing.T, pickle string, n int) {
		checkRead(t, archive(t, pickle, make([]byte, min(max(n, 0), 1<<12))))
	})
}

func checkRead(t *testing.T, b []byte) {
	var x *tensor.Tensor
	var err error
	if testkit.Allocated(func() { x, err = read(b) }) > 1<<20+16*uint64(len(b)) {
		t.Fatal("much memory")
	}
	if err != nil {
		classified(t, err)
		return
	}
	if x.ByteSize() > 1<<20 {
		return // the elements repeat
	}
	again, err := read(written(t, x))
	require.NoError(t, err)
	require.Equal(t, x.Shape(), again.Shape())
	require.Equal(t, testkit.Content(t, x), testkit.Content(t, again))
}
