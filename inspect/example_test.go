package inspect_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// masked says what hides the ages that are missing.
var masked = tdict.Schema{{Key: "age", DType: tensor.Float32, Mask: "age_mask"}}

// visits returns a small dictionary.
func visits() *tdict.TensorDict {
	td, err := tdict.FromMap([]int{4}, tdict.Entries{
		"age":      tensor.Vector[float32](31, 45, 0, 62),
		"age_mask": tensor.Vector(true, true, false, true),
		"lab/name": tensor.Must(ragged.FromStrings([]string{"iron", "iron", "zinc", ""})),
	})
	if err != nil {
		log.Fatal(err)
	}
	return td
}

func ExampleDescribe() {
	all, err := inspect.Describe(context.Background(), visits(), inspect.DescribeOptions{Schema: masked, Quantiles: []float64{0.5}})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range all {
		fmt.Printf("%s: %d values, %d missing", s.Key, s.Count, s.Missing)
		switch {
		case s.Kind == tdict.KindText:
			fmt.Printf(", %d distinct, %d to %d bytes", s.Distinct, s.Rows.Min, s.Rows.Max)
		case s.DType == tensor.Bool:
			fmt.Printf(", %d true", s.True)
		default:
			fmt.Printf(", %v to %v, mean %v, median %v", s.Min, s.Max, s.Mean, s.Quantiles[0])
		}
		fmt.Println()
	}
	// Output:
	// age: 3 values, 1 missing, 31 to 62, mean 46, median 45
	// age_mask: 4 values, 0 missing, 3 true
	// lab/name: 4 values, 0 missing, 3 distinct, 0 to 4 bytes
}

func ExampleDifferences() {
	a, b := visits(), visits()
	ages, err := b.Tensor("age")
	if err != nil {
		log.Fatal(err)
	}
	err = tensor.Write(ages, func(s []float32) { s[1], s[3] = 45.0001, 63 })
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Delete("age_mask"); err != nil {
		log.Fatal(err)
	}
	for d, err := range inspect.Differences(context.Background(), a, b, inspect.DifferencesOptions{Tolerance: tensor.Tolerance{Relative: 1e-5, EqualNaN: true}}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d)
	}
	// Output:
	// "age_mask": bool [4], missing in the other
	// "age": 1 element differs: [3] is 62, other 63
}

func ExamplePrint() {
	if err := inspect.Print(os.Stdout, visits(), inspect.PrintOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// dictionary [4], 3 leaves, 32 B
	//   age: float32 [4], 16 B, in memory
	//   age_mask: bool [4], 4 B, in memory
	//   lab: dictionary [4], 1 leaf, 12 B
	//     name: ragged uint8 [4 *], 12 B, in memory
}

func ExampleDataset() {
	top, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(top)
	dir := filepath.Join(top, "visits")
	if err := memmap.Save(dir, visits()); err != nil {
		log.Fatal(err)
	}
	r, err := inspect.Dataset(dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%v %v: %d leaves, %d with checksums, %d bytes\n", r.Container, r.Batch, r.Leaves, r.Summed, r.Bytes)
	for _, e := range r.Entries {
		fmt.Printf("%s: %v %v, file %q\n", e.Key, e.Kind, e.Shape, e.File)
	}
	// Output:
	// directory [4]: 3 leaves, 3 with checksums, 32 bytes
	// age: tensor [4], file "age.memmap"
	// age_mask: tensor [4], file "age_mask.memmap"
	// lab: dictionary [4], file ""
	// lab/name: ragged [4 -1], file "lab/name/@pool.memmap"
}

func ExampleProfiles() {
	td, err := tdict.FromMap([]int{16}, tdict.Entries{
		"chol":      tensor.Vector[int64](261, 302, 176, 244, 279, 0, 248, 280, 200, 322, 243, 302, 230, 187, 210, 388),
		"chol_mask": tensor.Vector(true, true, true, true, true, false, true, true, true, true, true, true, true, true, true, true),
		"sex":       tensor.Must(ragged.FromStrings([]string{"f", "f", "m", "f", "f", "m", "f", "f", "f", "f", "m", "f", "f", "f", "f", "f"})),
	})
	if err != nil {
		log.Fatal(err)
	}
	all, err := inspect.Profiles(context.Background(), td, inspect.ProfileOptions{
		Keys: []nestedkey.Key{"chol", "sex"}, MaxBytes: 32 << 20,
		Schema: tdict.Schema{{Key: "chol", DType: tensor.Int64, Mask: "chol_mask"}}, // of a dataset: ds.Schema()
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range all {
		fmt.Printf("%s: %d of %d read\n", p.Key, p.Read, p.Total)
		if h := p.Values; h != nil {
			for _, bar := range h.Bars {
				fmt.Printf("  %v to %v: %d\n", bar.From, bar.To, bar.Count)
			}
			fmt.Printf("  %d missing\n", h.Missing)
		}
		for _, text := range p.Texts {
			fmt.Printf("  %q: %d\n", text.Text, text.Count)
		}
	}
	// Output:
	// chol: 16 of 16 read
	//   160 to 179: 1
	//   180 to 199: 1
	//   200 to 219: 2
	//   220 to 239: 1
	//   240 to 259: 3
	//   260 to 279: 2
	//   280 to 299: 1
	//   300 to 319: 2
	//   320 to 339: 1
	//   340 to 359: 0
	//   360 to 379: 0
	//   380 to 399: 1
	//   1 missing
	// sex: 16 of 16 read
	//   "f": 13
	//   "m": 3
}
