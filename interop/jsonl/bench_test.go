package jsonl_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/go-tensordict/tensordict/interop/jsonl"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A visit is a row of the benchmarks, for encoding/json.
type visit struct {
	ID   int64      `json:"id"`
	Age  float64    `json:"age"`
	Dose float32    `json:"dose"`
	Sick bool       `json:"sick"`
	Pos  [3]float64 `json:"pos"`
	Days []int64    `json:"days"`
	Name string     `json:"name"`
	Obs  struct {
		A, B float64
	} `json:"obs"`
}

var visits = tdict.Schema{
	{Key: "id", DType: tensor.Int64},
	{Key: "age", DType: tensor.Float64},
	{Key: "dose", DType: tensor.Float32},
	{Key: "sick", DType: tensor.Bool},
	{Key: "pos", DType: tensor.Float64, Shape: shapeops.Shape{3}},
	{Key: "days", Kind: tdict.KindRagged, DType: tensor.Int64, Depth: 1},
	{Key: "name", Kind: tdict.KindText},
	{Key: "obs/A", DType: tensor.Float64},
	{Key: "obs/B", DType: tensor.Float64},
}

// made returns n visits.
func made(n int) []visit {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]visit, n)
	for i := range rows {
		v := &rows[i]
		v.ID, v.Age, v.Dose, v.Sick = rng.Int64N(1e9), rng.Float64()*100, rng.Float32(), rng.IntN(2) == 0
		v.Pos = [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		v.Days = []int64{}
		for range rng.IntN(6) {
			v.Days = append(v.Days, rng.Int64N(3650))
		}
		v.Name = fmt.Sprintf("person %d", rng.IntN(1e6))
		v.Obs.A, v.Obs.B = rng.Float64(), float64(rng.IntN(100))
	}
	return rows
}

// linesOf returns the visits as JSON lines.
func linesOf(rows []visit) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, v := range rows {
		if err := e.Encode(v); err != nil {
			panic(err)
		}
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := linesOf(made(20_000))
	b.Run("how=json", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			lines := bufio.NewScanner(bytes.NewReader(text))
			for lines.Scan() {
				var v visit
				if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("how=jsonl/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range jsonl.Read(context.Background(), bytes.NewReader(text), visits, jsonl.ReadOptions{Workers: workers}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	rows := made(20_000)
	text := linesOf(rows)
	tds := tensor.Must(read(string(text), visits, jsonl.ReadOptions{}))
	b.Run("how=strconv", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			var out []byte
			w := bufio.NewWriter(io.Discard)
			for i := range rows {
				out = rows[i].append(out[:0])
				if _, err := w.Write(out); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("how=jsonl", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportAllocs()
		for b.Loop() {
			if err := jsonl.Write(context.Background(), io.Discard, visits, chunks(tds...), jsonl.WriteOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// chunks returns a sequence of dictionaries.
func chunks(tds ...*tdict.TensorDict) iter.Seq2[*tdict.TensorDict, error] {
	return func(yield func(*tdict.TensorDict, error) bool) {
		for _, td := range tds {
			if !yield(td, nil) {
				return
			}
		}
	}
}

// append appends the row as JSON, by hand.
func (v *visit) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"id":`...), v.ID, 10)
	b = strconv.AppendFloat(append(b, `,"age":`...), v.Age, 'g', -1, 64)
	b = strconv.AppendFloat(append(b, `,"dose":`...), float64(v.Dose), 'g', -1, 32)
	b = strconv.AppendBool(append(b, `,"sick":`...), v.Sick)
	b = append(b, `,"pos":[`...)
	for i, x := range v.Pos {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
	}
	b = append(b, `],"days":[`...)
	for i, x := range v.Days {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, x, 10)
	}
	b = strconv.AppendQuote(append(b, `],"name":`...), v.Name)
	b = strconv.AppendFloat(append(b, `,"obs":{"A":`...), v.Obs.A, 'g', -1, 64)
	b = strconv.AppendFloat(append(b, `,"B":`...), v.Obs.B, 'g', -1, 64)
	return append(b, "}}\n"...)
}
