package csv_test

import (
	"bufio"
	"bytes"
	enc "encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/interop/csv"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// numbersSchema has four columns of integers and four of floats.
var numbersSchema = func() (s tdict.Schema) {
	for i := range 8 {
		s = append(s, tdict.Spec{Key: nestedkey.Of(fmt.Sprint("c", i)), DType: []tensor.DType{tensor.Int64, tensor.Float64}[i/4]})
	}
	return s
}()

// numbers returns a file of n rows of numbersSchema.
func numbers(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := []byte("c0,c1,c2,c3,c4,c5,c6,c7\n")
	for range n {
		for i := range 8 {
			if i < 4 {
				b = strconv.AppendInt(b, rng.Int64N(1e9), 10)
			} else {
				b = strconv.AppendFloat(b, rng.NormFloat64(), 'g', -1, 64)
			}
			b = append(b, ",\n"[i/7])
		}
	}
	return b
}

// byHand reads the file into slices.
func byHand(r io.Reader) (ints [4][]int64, floats [4][]float64, err error) {
	lines := enc.NewReader(r)
	lines.ReuseRecord = true
	if _, err := lines.Read(); err != nil {
		return ints, floats, err
	}
	for {
		fields, err := lines.Read()
		if err == io.EOF {
			return ints, floats, nil
		}
		if err != nil {
			return ints, floats, err
		}
		for i := range 4 {
			v, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				return ints, floats, err
			}
			ints[i] = append(ints[i], v)
			x, err := strconv.ParseFloat(fields[i+4], 64)
			if err != nil {
				return ints, floats, err
			}
			floats[i] = append(floats[i], x)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	file := numbers(50_000)
	b.Run("how=strconv", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if _, _, err := byHand(bytes.NewReader(file)); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("how=csv/workers=%d", workers), func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range csv.Read(bg, bytes.NewReader(file), numbersSchema, csv.ReadOptions{Workers: workers}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	file := numbers(50_000)
	ints, floats, err := byHand(bytes.NewReader(file))
	if err != nil {
		b.Fatal(err)
	}
	tds := tensor.Must(read(string(file), numbersSchema, csv.ReadOptions{}))
	b.Run("how=strconv", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			w := bufio.NewWriterSize(io.Discard, 1<<16)
			var line []byte
			for row := range ints[0] {
				line = line[:0]
				for i := range 4 {
					line = append(strconv.AppendInt(line, ints[i][row], 10), ',')
				}
				for i := range 4 {
					line = append(strconv.AppendFloat(line, floats[i][row], 'g', -1, 64), ",\n"[i/3])
				}
				if _, err := w.Write(line); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("how=csv", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		for b.Loop() {
			if err := csv.Write(bg, io.Discard, numbersSchema, chunks(tds...), csv.Format{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkInfer(b *testing.B) {
	file := numbers(50_000)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := csv.Infer(bytes.NewReader(file), 0, csv.Format{}); err != nil {
			b.Fatal(err)
		}
	}
}

// kinds are tables of one type of field, each beside a table of numbers of similar length.
var kinds = []struct {
	name  string
	hint  bool // categories
	field func(b []byte, rng *rand.Rand) []byte
}{
	{"numbers10", false, func(b []byte, rng *rand.Rand) []byte { return strconv.AppendInt(b, 1e9+rng.Int64N(1e9), 10) }},
	{"dates", false, func(b []byte, rng *rand.Rand) []byte {
		return time.Unix(86400*rng.Int64N(40_000), 0).UTC().AppendFormat(b, time.DateOnly)
	}},
	{"masked", false, func(b []byte, rng *rand.Rand) []byte {
		if rng.IntN(10) == 0 {
			return append(b, "NA"...)
		}
		return strconv.AppendInt(b, 1e9+rng.Int64N(1e9), 10)
	}},
	{"numbers18", false, func(b []byte, rng *rand.Rand) []byte { return strconv.AppendInt(b, 1e17+rng.Int64N(1e17), 10) }},
	{"times", false, func(b []byte, rng *rand.Rand) []byte {
		return time.Unix(rng.Int64N(2e9), 0).UTC().AppendFormat(b, time.DateTime)
	}},
	{"numbers6", false, func(b []byte, rng *rand.Rand) []byte { return strconv.AppendInt(b, 1e5+rng.Int64N(9e5), 10) }},
	{"categories", true, func(b []byte, rng *rand.Rand) []byte {
		return append(b, []string{"female", "male", "unknown", "single", "widowed"}[rng.IntN(5)]...)
	}},
}

// BenchmarkKinds infers, reads and writes. Dates, categories and masks take at most a fifth more
// than numbers.
func BenchmarkKinds(b *testing.B) {
	for _, kind := range kinds {
		rng := rand.New(rand.NewPCG(1, 2))
		file := []byte("c0,c1,c2,c3,c4,c5,c6,c7\n")
		in := csv.NewInferrer(csv.Format{})
		in.Hints.Categories = map[nestedkey.Key]bool{}
		for i := range 8 * 50_000 {
			file = append(kind.field(file, rng), ",\n"[i%8/7])
			in.Hints.Categories[nestedkey.Key(fmt.Sprint("c", i%8))] = kind.hint
		}
		hints := in.Hints
		if err := in.Add(bytes.NewReader(file), 0); err != nil {
			b.Fatal(err)
		}
		schema := tensor.Must(in.Schema())
		b.Run("op=infer/kind="+kind.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				in := csv.NewInferrer(csv.Format{})
				in.Hints = hints
				if err := in.Add(bytes.NewReader(file), 0); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("op=read/kind="+kind.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range csv.Read(bg, bytes.NewReader(file), schema, csv.ReadOptions{Workers: 1}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		tds := tensor.Must(read(string(file), schema, csv.ReadOptions{}))
		b.Run("op=write/kind="+kind.name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				if err := csv.Write(bg, io.Discard, schema, chunks(tds...), csv.Format{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
