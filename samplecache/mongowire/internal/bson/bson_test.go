package bson_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

func Example() {
	b := bson.Append(nil, bson.D{{"find", "read.bin"}, {"filter", bson.D{{"id", bson.D{{"$in", bson.A{1, 2}}}}}}})
	doc, err := bson.Parse(b)
	name, of := doc.First()
	collection, _ := of.Text()
	filter, _ := doc.Get("filter").Doc()
	fmt.Println(name, collection, len(filter), err)
	// Output: find read.bin 38 <nil>
}

var all = bson.D{
	{"b", true}, {"i", 7}, {"l", 1 << 40}, {"d", 1.5}, {"s", "text"}, {"x", []byte{1, 2}}, {"o", bson.ID{1}},
	{"n", nil}, {"a", bson.A{1, "two", bson.D{}}}, {"e", bson.D{{"f", int64(3)}}},
}

func TestRoundTrip(t *testing.T) {
	b := bson.Append(nil, all)
	doc, err := bson.Parse(b)
	require.NoError(t, err)
	var again bson.D
	for name, v := range doc.All() {
		again = append(again, bson.E{name, v})
	}
	require.Len(t, again, len(all))
	require.Equal(t, b, bson.Append(nil, again))
	n, ok := doc.Get("l").Int()
	require.True(t, ok && n == 1<<40)
	_, ok = doc.Get("missing").Int()
	require.False(t, ok)
	_, ok = doc.Get("d").Int()
	require.False(t, ok)
	require.True(t, doc.Get("d").True())
	require.False(t, doc.Get("n").True())
}

// valueOf returns a value as it is read.
func valueOf(value any) bson.Value {
	doc, _ := bson.Parse(bson.Append(nil, bson.D{{"v", value}}))
	return doc.Get("v")
}

func TestCompare(t *testing.T) {
	tests := []struct {
		a, b any
		want int
		ok   bool
	}{
		{1, int64(2), -1, true}, {2.0, 2, 0, true}, {"b", "a", 1, true}, {bson.ID{1}, bson.ID{2}, -1, true},
		{"1", 1, 0, false}, {nil, 0, 0, false}, {1.5, 1.5, 0, false}, {true, true, 0, true},
	}
	for _, test := range tests {
		got, ok := valueOf(test.a).Compare(valueOf(test.b))
		require.Equal(t, test.ok, ok, "%v", test)
		require.Equal(t, test.want, got, "%v", test)
	}
}

// TestDamage cuts a document at every byte, and sets every byte to each of a few values: all that
// is accepted can be read.
func TestDamage(t *testing.T) {
	whole := bson.Append(nil, all)
	for n := range whole {
		_, err := bson.Parse(whole[:n])
		require.ErrorIs(t, err, bson.ErrSyntax)
		for _, c := range []byte{0, 1, 4, 0x7f, 0x80, 0xff} {
			b := slices.Clone(whole)
			b[n] = c
			walk(t, b)
		}
	}
	_, err := bson.Parse(append(slices.Clone(whole), 0))
	require.ErrorIs(t, err, bson.ErrSyntax)
}

func TestDepth(t *testing.T) {
	d := bson.D{}
	for range bson.MaxDepth - 1 {
		d = bson.D{{"", d}}
	}
	_, err := bson.Parse(bson.Append(nil, d))
	require.NoError(t, err)
	_, err = bson.Parse(bson.Append(nil, bson.D{{"", d}}))
	require.ErrorIs(t, err, bson.ErrSyntax)
}

func TestPanics(t *testing.T) {
	require.Panics(t, func() { bson.Append(nil, bson.D{{"c", math.Pi + 1i}}) })
	require.Panics(t, func() { bson.Append(nil, bson.D{{"a\x00", 1}}) })
}

// walk reads every value of a document, if it is one.
func walk(t *testing.T, b []byte) bool {
	doc, err := bson.Parse(b)
	if err != nil {
		require.ErrorIs(t, err, bson.ErrSyntax)
		return false
	}
	read(t, doc)
	return true
}

func read(t *testing.T, doc bson.Doc) {
	size := 5
	for name, v := range doc.All() {
		require.False(t, strings.Contains(name, "\x00"))
		size += len(bson.AppendValue(nil, name, v))
		_, _ = v.Int()
		_, _ = v.Text()
		_, _ = v.Bytes()
		_ = v.True()
		_, _ = v.Compare(v)
		if sub, ok := v.Doc(); ok {
			read(t, sub)
		}
	}
	require.Equal(t, len(doc), size)
}

// FuzzParse reads every value of documents, and writes them again: the same bytes.
func FuzzParse(f *testing.F) {
	f.Add(bson.Append(nil, all))
	f.Add([]byte("\x10\x00\x00\x00\x0ba\x00x\x00i\x00\x0ab\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if testkit.Allocated(func() { _, _ = bson.Parse(b) }) > 64<<10+64*uint64(len(b)) {
			t.Fatal("much memory")
		}
		if !walk(t, b) {
			return
		}
		doc, _ := bson.Parse(b)
		var again bson.D
		for name, v := range doc.All() {
			again = append(again, bson.E{name, v})
		}
		require.True(t, bytes.Equal(b, bson.Append(nil, again)))
	})
}
