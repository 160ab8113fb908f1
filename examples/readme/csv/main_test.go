package main

import (
	"os"
	"path/filepath"
)

func Example() {
	dir, err := os.MkdirTemp("", "csv-")
	check(err)
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "weather.csv")
	check(os.WriteFile(file, []byte("day,wind km/h,rain,code,station\n1,11.5,true,007,north\n2,NA,false,012,\"pier, east\"\n3,7,true,113,\n"), 0o600))

	os.Args = []string{"csv", file, filepath.Join(dir, "weather")}
	main()
	// Output:
	// key        kind    dtype    shape  doc day        tensor  int64    []     3 of 3 fields:
	// integers from 1 to 3 wind km/h  tensor  float64  []     optional, 2 of 3 fields: numbers from
	// 7 to 11.5 rain       tensor  bool     []     3 of 3 fields: true or false code       text
	// []     3 of 3 fields: texts of 3 to 3 bytes, 3 distinct station    text             []
	// optional, 2 of 3 fields: texts of 5 to 10 bytes, 2 distinct day  wind km/h  wind km/h_mask
	// rain   code   station       station_mask 1    11.5       true            true   "007"
	// "north"       true 2    0          false           false  "012"  "pier, east"  true 3    7
	// true            true   "113"  ""            false
}
