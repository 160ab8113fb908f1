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
	// TensorDict(
	//     fields={
	//         code: Data(shape=[3], values=["007" "012" "113"]),
	//         day: Tensor(shape=[3], dtype=int64),
	//         rain: Tensor(shape=[3], dtype=bool),
	//         station: Data(shape=[3], values=["north" "pier, east" ""]),
	//         wind km~1h: Tensor(shape=[3], dtype=float64)},
	//     batch=[3])
	// {"batch":[2],"entries":{"code":{"shape":[2],"values":["113","007"]},"day":{"dtype":"int64","shape":[2],"values":[3,1]},"rain":{"dtype":"bool","shape":[2],"values":[true,true]},"station":{"shape":[2],"values":["","north"]},"wind km/h":{"dtype":"float64","shape":[2],"values":[7,11.5]}}}
}
