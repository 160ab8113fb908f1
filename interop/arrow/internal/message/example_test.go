package message_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/go-tensordict/tensordict/interop/arrow/internal/message"
)

func Example() {
	b, err := os.ReadFile("../../tdarrow/testdata/js.arrow")
	if err != nil {
		fmt.Println(err)
	}
	f, err := message.Open(b, message.Options{Path: "js.arrow"})
	if err != nil {
		fmt.Println(err)
	}
	f.Select([]int{0, 3})
	for i := range f.Len() {
		rec, err := f.Batch(i)
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(rec.Column(0), rec.Column(1))
	}

	_, err = message.Open(b[:len(b)-1], message.Options{Path: "js.arrow"})
	if at, ok := errors.AsType[*message.Error](err); ok {
		fmt.Println(at.Part)
	}
	// Output:
	// [1 2 3 4 5] ["ann" (null) "" "d" "eve"]
	// [2 3 4] [(null) "" "d"]
	// footer
}
