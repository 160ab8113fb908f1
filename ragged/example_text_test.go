package ragged_test

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tensor"
)

// Texts of any length are rows of bytes.
func ExampleFromStrings() {
	names, err := ragged.FromStrings([]string{"Ada", "", "Émilie"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(names.Text())
	last, err := ragged.StringAt(names, -1)
	fmt.Println(last, err)
	// Output:
	// ragged uint8 [3 *]
	// Émilie <nil>
}

func ExampleStrings() {
	names := tensor.Must(ragged.FromStrings([]string{"Ada", "", "Émilie"}))
	rows, err := names.TakeRows(2, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	texts, err := ragged.Strings(rows)
	fmt.Printf("%q %v\n", texts, err)
	// Output: ["Émilie" "Ada"] <nil>
}

func ExampleStringAt() {
	grid := tensor.Must(ragged.FromStrings([]string{"a1", "a2", "b1", "b2"}, 2, 2))
	text, err := ragged.StringAt(grid, 1, 0)
	fmt.Println(text, err)
	// Output: b1 <nil>
}

// A few texts that come again and again become numbers.
func ExampleCategories() {
	sex := tensor.Must(ragged.FromStrings([]string{"f", "m", "f", "f"}))
	codes, texts, err := ragged.Categories(sex)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(codes)
	fmt.Println(texts)
	back, err := ragged.FromCategories(codes, texts)
	fmt.Println(back.Equal(sex), err)
	// Output:
	// int32 [4]
	// [0 1 0 0]
	// [f m]
	// true <nil>
}

// A reader of lines yields two lines at a time, in memory that it uses again.
func ExampleTextBuilder() {
	lines := bufio.NewScanner(strings.NewReader("one\ntwo\nthree\nfour\n"))
	var b ragged.TextBuilder
	for lines.Scan() {
		b.AppendBytes(lines.Bytes())
		if b.Len() < 2 {
			continue
		}
		texts, err := b.Tensor()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ragged.Strings(texts))
		b.Reset()
	}
	// Output:
	// [one two] <nil>
	// [three four] <nil>
}

// Codes stay the same from chunk to chunk.
func ExampleTextCodes() {
	var stages ragged.TextCodes
	for _, text := range []string{"early", "late", "early"} {
		code, err := stages.Code([]byte(text))
		fmt.Println(code, err)
	}
	fmt.Println(stages.Texts())
	// Output:
	// 0 <nil>
	// 1 <nil>
	// 0 <nil>
	// [early late]
}
