package tensorclass_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

// A step has 56 bytes.
type step struct {
	ID     int64
	Pos    [3]float64
	Reward float64
	Done   int64
	Time   float64
}

const benchRows = 1_000_000

// columns are what a loop over steps reads and writes.
type columns struct {
	id, done     []int64
	pos          [][3]float64
	reward, time []float64
}

func steps(n int) ([]step, columns) {
	rows := make([]step, n)
	for i := range rows {
		f := float64(i)
		rows[i] = step{int64(i), [3]float64{f, -f, 1}, f / 2, int64(i % 2), 2 * f}
	}
	return rows, columns{make([]int64, n), make([]int64, n), make([][3]float64, n), make([]float64, n), make([]float64, n)}
}

// BenchmarkFromRows compares FromRows of a million structs with a loop into given slices.
func BenchmarkFromRows(b *testing.B) {
	rows, c := steps(benchRows)
	b.Run("how=loop", func(b *testing.B) {
		b.SetBytes(56 * benchRows)
		for b.Loop() {
			for i := range rows {
				r := &rows[i]
				c.id[i], c.pos[i], c.reward[i], c.done[i], c.time[i] = r.ID, r.Pos, r.Reward, r.Done, r.Time
			}
		}
	})
	b.Run("how=tensorclass", func(b *testing.B) {
		b.SetBytes(56 * benchRows)
		b.ReportAllocs()
		for b.Loop() {
			tensor.Must(tensorclass.FromRows(rows))
		}
	})
}

// BenchmarkToRows compares ToRows of a million structs with a loop into a given slice, and one into
// a new slice.
func BenchmarkToRows(b *testing.B) {
	rows, c := steps(benchRows)
	td := tensor.Must(tensorclass.FromRows(rows))
	loop := func(rows []step) {
		for i := range rows {
			r := &rows[i]
			r.ID, r.Pos, r.Reward, r.Done, r.Time = c.id[i], c.pos[i], c.reward[i], c.done[i], c.time[i]
		}
	}
	for _, how := range []struct {
		name string
		fn   func()
	}{
		{"loop", func() { loop(rows) }},
		{"makeloop", func() { loop(make([]step, benchRows)) }},
		{"tensorclass", func() { tensor.Must(tensorclass.ToRows[step](td)) }},
	} {
		b.Run("how="+how.name, func(b *testing.B) {
			b.SetBytes(56 * benchRows)
			b.ReportAllocs()
			for b.Loop() {
				how.fn()
			}
		})
	}
}

// BenchmarkRows compares a loop over rows with one over columns. Each adds up all numbers.
func BenchmarkRows(b *testing.B) {
	rows, _ := steps(benchRows)
	td := tensor.Must(tensorclass.FromRows(rows))
	var sum float64
	id, done := tensor.Must(tdict.Slice[int64](td, "id")), tensor.Must(tdict.Slice[int64](td, "done"))
	pos := tensor.Must(tdict.Slice[float64](td, "pos"))
	reward, time := tensor.Must(tdict.Slice[float64](td, "reward")), tensor.Must(tdict.Slice[float64](td, "time"))
	columns := func() (sum float64) {
		for i := range id {
			sum += float64(id[i]+done[i]) + pos[3*i] + pos[3*i+1] + pos[3*i+2] + reward[i] + time[i]
		}
		return sum
	}
	rowwise := func() (sum float64) {
		for r, err := range tensorclass.Rows[step](td) {
			if err != nil {
				b.Fatal(err)
			}
			sum += float64(r.ID+r.Done) + r.Pos[0] + r.Pos[1] + r.Pos[2] + r.Reward + r.Time
		}
		return sum
	}
	for _, how := range []struct {
		name string
		fn   func() float64
	}{{"columns", columns}, {"tensorclass", rowwise}} {
		b.Run("how="+how.name, func(b *testing.B) {
			b.SetBytes(56 * benchRows)
			b.ReportAllocs()
			for b.Loop() { // outside of fn, which it would keep from being optimised
				sum = how.fn()
			}
		})
	}
	b.Log(sum)
}

type ten struct {
	A, B, C, D, E tensorclass.Leaf[float32]
	F, G, H, I, J tensorclass.Leaf[int64]
}

// BenchmarkView views ten tensors, and gets them by their keys.
func BenchmarkView(b *testing.B) {
	td := tenOf(b)
	b.Run("how=view", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tensor.Must(tensorclass.View[ten](td))
		}
	})
	keys := []nestedkey.Key{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	b.Run("how=get", func(b *testing.B) {
		for b.Loop() {
			for _, key := range keys {
				tensor.Must(td.Tensor(key))
			}
		}
	})
}

// tenOf returns a dictionary for ten.
func tenOf(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(4)
	for i, key := range []nestedkey.Key{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		d := tensor.Float32
		if i >= 5 {
			d = tensor.Int64
		}
		if err := td.Set(key, tensor.Must(tensor.New(d, 4))); err != nil {
			t.Fatal(err)
		}
	}
	return td
}
