package safetensors_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/interop/internal/safetensors"
)

// read reads a file of a header and so many bytes of data, which must not be looked at.
func read(text string, data int64) (*safetensors.Header, error) {
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	return safetensors.Read(strings.NewReader(string(head)+text), 8+int64(len(text))+data)
}

func TestRead(t *testing.T) {
	const a = `"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}`
	first := safetensors.Entry{Name: "a", DType: "F32", Shape: []int{2}, Begin: 0, End: 8}
	tests := []struct {
		name, text string
		data       int64
		want       []safetensors.Entry
	}{
		{"nothing", `{}`, 0, []safetensors.Entry{}},
		{"no padding is needed", `{` + a + `}`, 8, []safetensors.Entry{first}},
		{"white space anywhere", " \t{ " + a + "\n } \r\n", 8, []safetensors.Entry{first}},
		{"fields in any order", `{"a":{"data_offsets":[0,8],"shape":[2],"dtype":"F32"}}`, 8, []safetensors.Entry{first}},
		{"fields of others are passed over", `{"a":{"x":[{}],"dtype":"F32","shape":[2],"x":1,"data_offsets":[0,8]}}`, 8,
			[]safetensors.Entry{first}},
		{"escapes", `{"\u0061":{"d\u0074ype":"F\u00332","shape":[2],"data_offsets":[0,8]}}`, 8, []safetensors.Entry{first}},
		{"metadata that is null", `{"__metadata__":null,` + a + `}`, 8, []safetensors.Entry{first}},
		{"bytes decide on the order, then the name",
			`{"z":{"dtype":"U8","shape":[0],"data_offsets":[8,8]},` +
				`"c":{"dtype":"U8","shape":[1],"data_offsets":[8,9]},` +
				`"y":{"dtype":"U8","shape":[0],"data_offsets":[8,8]},` + a + `}`, 9,
			[]safetensors.Entry{
				first,
				{Name: "y", DType: "U8", Shape: []int{0}, Begin: 8, End: 8},
				{Name: "z", DType: "U8", Shape: []int{0}, Begin: 8, End: 8},
				{Name: "c", DType: "U8", Shape: []int{1}, Begin: 8, End: 9},
			}},
		{"a scalar", `{"a":{"dtype":"C64","shape":[],"data_offsets":[0,8]}}`, 8,
			[]safetensors.Entry{{Name: "a", DType: "C64", Shape: []int{}, End: 8}}},
		{"a size of 0 before sizes that overflow", `{"a":{"dtype":"U8","shape":[0,4611686018427387904,4],"data_offsets":[0,0]}}`, 0,
			[]safetensors.Entry{{Name: "a", DType: "U8", Shape: []int{0, 1 << 62, 4}}}},
		{"64 dims", `{"a":{"dtype":"U8","shape":[1` + strings.Repeat(",1", 63) + `],"data_offsets":[0,1]}}`, 1,
			[]safetensors.Entry{{Name: "a", DType: "U8", Shape: ones(64), End: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := read(tt.text, tt.data)
			require.NoError(t, err)
			require.Equal(t, tt.want, h.Entries)
			require.Nil(t, h.Metadata)
			require.EqualValues(t, 8+len(tt.text), h.DataStart)
		})
	}
}

func ones(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

func TestReadKeepsMetadata(t *testing.T) {
	h, err := read(`{"__metadata__":{"format":"pt","":"\u00e9"}}`, 0)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"format": "pt", "": "é"}, h.Metadata)
	h, err = read(`{"__metadata__":{}}`, 0)
	require.NoError(t, err)
	require.Equal(t, map[string]string{}, h.Metadata)
}

// entry returns a header of one tensor.
func entry(dtype, shape, offsets string) string {
	return fmt.Sprintf(`{"a":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
}

func TestReadRefuses(t *testing.T) {
	u8 := func(name string, begin, end int) string {
		return fmt.Sprintf(`"%s":{"dtype":"U8","shape":[%d],"data_offsets":[%d,%d]}`, name, end-begin, begin, end)
	}
	is, not := safetensors.ErrCorrupt, safetensors.ErrUnsupported
	tests := []struct {
		name, text string
		data       int64
		err        error
	}{
		{"nothing is not JSON", ``, 0, is},
		{"not an object", `[]`, 0, is},
		{"an object without end", `{"a":`, 0, is},
		{"text after the object", `{} {}`, 0, is},
		{"zeros after the object", "{}\x00", 0, is},
		{"not UTF-8, where it matters to nobody", "{\"a\":{\"x\":\"\xff\"}}", 0, is},
		{"half of a character in a name", `{"\ud800":{}}`, 0, is},
		{"one name for two", `{` + u8("a", 0, 1) + `,` + u8("a", 1, 2) + `}`, 2, is},
		{"one name for two, spelled in two ways", `{` + u8("a", 0, 1) + `,` + u8(`\u0061`, 1, 2) + `}`, 2, is},
		{"a tensor that is not an object", `{"a":[]}`, 0, is},
		{"a tensor that is null", `{"a":null}`, 0, is},
		{"no dtype", `{"a":{"shape":[],"data_offsets":[0,0]}}`, 0, is},
		{"no shape", `{"a":{"dtype":"U8","data_offsets":[0,0]}}`, 0, is},
		{"no offsets", `{"a":{"dtype":"U8","shape":[]}}`, 0, is},
		{"a field that comes twice", `{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1, is},
		{"a dtype that is not text", entry(`8`, `[1]`, `[0,1]`), 1, is},
		{"a dtype that nobody knows", entry(`"F33"`, `[1]`, `[0,1]`), 1, not},
		{"a dtype in other letters", entry(`"f32"`, `[1]`, `[0,4]`), 4, not},
		{"a dtype of less than a byte", entry(`"F6_E2M3"`, `[4]`, `[0,3]`), 3, not},
		{"a shape that is not a list", entry(`"U8"`, `1`, `[0,1]`), 1, is},
		{"a size that is not an integer", entry(`"U8"`, `[1.0]`, `[0,1]`), 1, is},
		{"a size below 0", entry(`"U8"`, `[-1]`, `[0,1]`), 1, is},
		{"sizes below 0 that cancel out", entry(`"U8"`, `[-1,-1]`, `[0,1]`), 1, is},
		{"a size beyond 64 bits", entry(`"U8"`, `[18446744073709551617]`, `[0,1]`), 1, is},
		{"elements that overflow to what is there", entry(`"U8"`, `[4294967296,4294967296]`, `[0,0]`), 0, is},
		{"bytes that overflow to what is there", entry(`"F64"`, `[2305843009213693953]`, `[0,8]`), 8, is},
		{"sizes that overflow before a 0", entry(`"U8"`, `[4611686018427387904,4,0]`, `[0,0]`), 0, is},
		{"too many dims", entry(`"U8"`, `[1`+strings.Repeat(",1", 64)+`]`, `[0,1]`), 1, not},
		{"offsets that are not a list", entry(`"U8"`, `[1]`, `{"0":0,"1":1}`), 1, is},
		{"one offset", entry(`"U8"`, `[1]`, `[0]`), 1, is},
		{"three offsets", entry(`"U8"`, `[1]`, `[0,1,2]`), 1, is},
		{"an offset that is not an integer", entry(`"U8"`, `[1]`, `[0,1e0]`), 1, is},
		{"an offset below 0", entry(`"U8"`, `[1]`, `[-1,0]`), 1, is},
		{"offsets whose difference overflows", entry(`"U8"`, `[1]`, `[-9223372036854775808,9223372036854775807]`), 1, is},
		{"an end before its begin", entry(`"U8"`, `[1]`, `[1,0]`), 1, is},
		{"fewer bytes than elements", entry(`"F32"`, `[2]`, `[0,7]`), 7, is},
		{"more bytes than elements", entry(`"F32"`, `[2]`, `[0,9]`), 9, is},
		{"bytes for a tensor without elements", entry(`"F32"`, `[0]`, `[0,4]`), 4, is},
		{"data before the first", `{` + u8("a", 1, 2) + `}`, 2, is},
		{"a hole", `{` + u8("a", 0, 1) + `,` + u8("b", 2, 3) + `}`, 3, is},
		{"an overlap", `{` + u8("a", 0, 2) + `,` + u8("b", 1, 3) + `}`, 3, is},
		{"two in one place", `{` + u8("a", 0, 2) + `,` + u8("b", 0, 2) + `}`, 2, is},
		{"one without elements within another", `{` + u8("a", 0, 2) + `,` + u8("b", 1, 1) + `}`, 2, is},
		{"less data than the tensors have", `{` + u8("a", 0, 1) + `,` + u8("b", 1, 3) + `}`, 2, is},
		{"more data than the tensors have", `{` + u8("a", 0, 1) + `,` + u8("b", 1, 3) + `}`, 4, is},
		{"data of nobody", `{}`, 1, is},
		{"metadata that is a tensor", `{"__metadata__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1, is},
		{"metadata that is not an object", `{"__metadata__":"x"}`, 0, is},
		{"metadata that is not text", `{"__metadata__":{"a":1}}`, 0, is},
		{"metadata that comes twice", `{"__metadata__":{},"__metadata__":{}}`, 0, is},
		{"a name of metadata that comes twice", `{"__metadata__":{"a":"","a":""}}`, 0, is},
		{"a long name is cut", `{"` + strings.Repeat("é", 99) + `":1}`, 0, is},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h, err := read(tt.text, tt.data)
			require.Nil(t, h)
			testkit.Fails(t, tt.err, err)
		})
	}
}

func TestReadRefusesFiles(t *testing.T) {
	is, not := safetensors.ErrCorrupt, safetensors.ErrUnsupported
	tests := []struct {
		name, file string
		size       int64
		err        error
	}{
		{"an empty file", "", 0, is},
		{"less than a length", "\x00\x00\x00\x00\x00\x00\x00", 7, is},
		{"a size below 0", "", math.MinInt64, is},
		{"a header that ends after the file", "\x03\x00\x00\x00\x00\x00\x00\x00{}", 10, is},
		{"a length that is negative as an int64", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10, is},
		{"a length that overflows with its own 8 bytes", "\xf8\xff\xff\xff\xff\xff\xff\x7f{}", math.MaxInt64, is},
		{"a header beyond 100 MB", "\x01\xe1\xf5\x05\x00\x00\x00\x00{}", 1 << 30, not},
		{"a file that was cut in its length", "\x02", 10, is},
		{"a file that was cut in its header", "\x02\x00\x00\x00\x00\x00\x00\x00{", 10, is},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			testkit.MaxBytes(t, 10_000, func() {
				_, err := safetensors.Read(strings.NewReader(tt.file), tt.size)
				require.ErrorIs(t, err, tt.err)
			})
			testkit.Fails(t, tt.err, testkit.Err(safetensors.Read(strings.NewReader(tt.file), tt.size)))
		})
	}
}

// A broken disk cannot be read.
type broken struct{ err error }

func (b broken) ReadAt([]byte, int64) (int, error) { return 0, b.err }

func TestErrorsOfTheDiskStayWhatTheyAre(t *testing.T) {
	disk := errors.New("the disk")
	_, err := safetensors.Read(broken{disk}, 100)
	require.ErrorIs(t, err, disk)
	require.NotErrorIs(t, err, safetensors.ErrCorrupt)
}

// TestMemory reads headers that ask for the most memory a byte.
func TestMemory(t *testing.T) {
	var tensors, metadata, dims strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&tensors, `,"%x":{"dtype":"U8","shape":[],"data_offsets":[%d,%d]}`, i, i, i+1)
		fmt.Fprintf(&metadata, `,"%x":""`, i)
		fmt.Fprintf(&dims, `,"%x":{"dtype":"U8","shape":[0%s],"data_offsets":[0,0]}`, i, strings.Repeat(",0", 63))
	}
	tests := []struct {
		name, text string
		data       int64
	}{
		{"tensors", `{` + tensors.String()[1:] + `}`, 20_000},
		{"metadata", `{"__metadata__":{` + metadata.String()[1:] + `}}`, 0},
		{"dims", `{` + dims.String()[1:] + `}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			used := testkit.Allocated(func() {
				_, err := read(tt.text, tt.data)
				require.NoError(t, err)
			})
			t.Logf("%.1f bytes a byte", float64(used)/float64(len(tt.text)))
			testkit.MaxBytes(t, mostMemory(len(tt.text)), func() { _, _ = read(tt.text, tt.data) })
		})
	}
}

// mostMemory is how many bytes reading a header of so many may allocate, and making it into a file
// in memory.
func mostMemory(header int) uint64 { return 16*uint64(header) + 8192 }
