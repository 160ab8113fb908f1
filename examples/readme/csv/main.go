// Csv converts a CSV file with a header to a dataset, and prints its schema and its first rows.
//
//	go run ./examples/readme/csv FILE.csv DIR
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/memmap"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: csv FILE.csv DIR")
	}
	note := func(text string) { log.Print(text) } // such as why a column is text
	opt := forms.Options{Open: forms.OpenOptions{Note: note}}
	check(forms.Convert(context.Background(), os.Args[2], []string{os.Args[1]}, opt))

	ds, err := memmap.Open(os.Args[2])
	check(err)
	defer ds.Close()
	fmt.Println(ds.Schema())
	fmt.Println(ds.Schema().Head(ds.TensorDict, 5)) // reads these rows from the mapped files
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
