package cast_test

import (
	"fmt"

	"github.com/go-tensordict/tensordict/internal/cast"
)

func Example() {
	s := []uint16{1, 2}
	cast.Bytes(s)[0] = 7 // on a little-endian machine, the low byte of the first element
	fmt.Println(s, cast.LittleEndian())
	// Output: [7 2] true
}
