package forms_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/shapeops/ix"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "")
	check(err)
	defer os.RemoveAll(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	check(os.WriteFile(at("may.csv"), []byte("age,name\n36,Ada\n41,Grace\n"), 0o666))
	check(os.WriteFile(at("june.csv"), []byte("age,name\n28,Emmy\nNA,Sofia\n"), 0o666))

	ctx := context.Background()
	check(forms.Convert(ctx, at("people.tdz"), []string{at("may.csv"), at("june.csv")}, forms.Options{}))
	fmt.Println(forms.Convert(ctx, "people.npz", []string{at("people.tdz")}, forms.Options{}) != nil) // has no text
	check(forms.Slice(ctx, at("last.jsonl"), at("people.tdz"), forms.SliceOptions{Index: []ix.Index{ix.Range(-2, ix.End)}}))
	text, err := os.ReadFile(at("last.jsonl"))
	check(err)
	fmt.Print(string(text))

	check(forms.Split(ctx, at("parts"), at("people.tdz"), forms.SplitOptions{Fractions: []float64{0.75, 0.25}, Seed: 1}))
	in, err := forms.Open(at("parts/0"), forms.OpenOptions{})
	check(err)
	defer in.Close()
	fmt.Println(in.Dict.Shape(), in.Schema[0].Key)
	// Output:
	// true
	// {"age":28,"name":"Emmy"}
	// {"age":null,"name":"Sofia"}
	// [3] age
}
