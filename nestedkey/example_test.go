package nestedkey_test

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/nestedkey"
)

func Example() {
	key := nestedkey.Join("next/sensors", nestedkey.Of("km/h"))
	fmt.Println(key)
	for part := range key.Parts() {
		fmt.Println("-", part)
	}
	parent, _ := key.Parent()
	fmt.Println(parent, key.HasPrefix("next"), key.Name())
	// Output:
	// next/sensors/km~1h
	// - next
	// - sensors
	// - km/h
	// next/sensors true km/h
}

func ExampleParse() {
	_, err := nestedkey.Parse("a~b")
	fmt.Println(err)
	// Output:
	// ill-formed key "a~b": byte 1: got a lone ~, want ~0 (for ~) or ~1 (for /)
}

func ExampleKey_Cut() {
	first, rest, nested := nestedkey.Key("a/b/c").Cut()
	fmt.Println(first, rest, nested)
	// Output: a b/c true
}

func ExampleCompare() {
	keys := []nestedkey.Key{"b", "a.x", "a/b", "a"}
	slices.SortFunc(keys, nestedkey.Compare)
	fmt.Println(keys) // what lies below a key comes right behind it
	// Output: [a a/b a.x b]
}
