package main

func Example_findDamage() {
	findDamage()
	// Output:
	// "day": day.memmap: block 0: corrupt: changed or damaged: got CRC-32C 7c736e3b, want f906d04b
	// 25 leaves, 0 without checksums
}

func Example_seal() {
	seal()
	// Output:
	// true
	// <nil>
}

func Example_goOnWriting() {
	goOnWriting()
	// Output:
	// goes on at row 900
	// the log has all visits: true
}

func Example_cleanUp() {
	cleanUp()
	// Output:
	// left by killed saves: [.saving-ABCDEFGH]
	// left by killed saves: []
}
