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
	// key              kind    dtype    shape  doc
	// day              tensor  int64    []
	// wind km~1h       tensor  float64  []     optional, mask wind km~1h_mask, whole numbers without .0
	// wind km~1h_mask  tensor  bool     []     optional
	// rain             tensor  bool     []
	// code             text             []
	// station          text             []     optional, mask station_mask
	// station_mask     tensor  bool     []     optional
	// day  wind km~1h  rain   code   station
	// 1    11.5        true   "007"  "north"
	// 2    NA          false  "012"  "pier, east"
	// 3    7           true   "113"  NA
}
