package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/inspect"
	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/safetensors"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

var serveAndShare = []task{
	{"Serve rows over HTTP while they are replaced", serveRows},
	{"Save only some keys, as one file", saveSomeKeys},
	{"To safetensors", toSafetensors},
	{"Read in Python what Go wrote", readInPython},
	{"Compare two versions of a dataset", compareVersions},
	{"Compare dictionaries in a test", compareInTest},
}

func serveRows() {
	saveDays := func(days ...int64) {
		check(memmap.Save("served", tensor.Must(tdict.FromMap([]int{len(days)}, tdict.Entries{"day": tensor.Vector(days...)}))))
	}
	saveDays(0, 192)

	live, err := memmap.OpenLive("served", memmap.LiveOptions{Interval: 10 * time.Millisecond})
	check(err)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /visits/{row}", func(w http.ResponseWriter, r *http.Request) {
		ds, err := live.Acquire() // the current version, readable until Release
		if err == nil {
			defer live.Release(ds)
			err = writeRow(w, ds, r.PathValue("row"))
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
		}
	})

	defer live.Close()
	server := httptest.NewServer(mux)
	defer server.Close()
	get := func(row string) string {
		response, err := http.Get(server.URL + "/visits/" + row)
		check(err)
		text, err := io.ReadAll(response.Body)
		check(err)
		check(response.Body.Close())
		return "GET /visits/" + row + ": " + strings.TrimSpace(string(text))
	}
	fmt.Println(get("1"))
	fmt.Println(get("7"))
	saveDays(0, 365)
	for start := time.Now(); strings.Contains(get("1"), "192"); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			panic("still the old version")
		}
	}
	fmt.Println(get("1"))
}

// writeRow writes a row as JSON.
func writeRow(w io.Writer, ds *memmap.Dataset, row string) error {
	i, err := strconv.Atoi(row)
	if err != nil {
		return err
	}
	visit, err := ds.Index(ix.At(i))
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(visit)
}

func saveSomeKeys() {
	opt := forms.Options{Select: forms.Selection{
		Keys:   []nestedkey.Key{"id", "day", "chol"}, // the mask of chol comes with it
		Rename: [][2]nestedkey.Key{{"id", "patient"}},
	}}
	check(forms.Convert(ctx, "some.tdz", []string{"visits"}, opt)) // .tdz: one file
	ds, err := memmap.Open("some.tdz")
	check(err)
	defer ds.Close()
	fmt.Println(ds)
}

func toSafetensors() {
	ds := open("digits")
	defer ds.Close()

	meta := map[string]string{"source": "UCI digits"}
	check(safetensors.SaveWith(ctx, "digits.safetensors", ds, safetensors.SaveOptions{Metadata: meta}))
	file, err := safetensors.Open("digits.safetensors") // mapped
	check(err)
	defer file.Close()
	fmt.Println(file)
}

// readInPython runs python.py. Without Python in TENSORDICT_PYTHON it does nothing.
func readInPython() {
	exe := os.Getenv("TENSORDICT_PYTHON")
	if exe == "" {
		fmt.Println("skipped: TENSORDICT_PYTHON is not set")
		return
	}
	command := exec.Command(exe, "-W", "ignore", "-c", script)
	command.Stderr = os.Stderr
	out, err := command.Output()
	check(err)
	fmt.Print(string(out))
}

func compareVersions() {
	check(memmap.Copy(ctx, "visits", "next", memmap.CopyOptions{}))
	ds, err := memmap.OpenWith("next", memmap.OpenOptions{Writable: true})
	check(err)
	check(ds.SetIndex(tensor.Must(tdict.FromValues(nil, tdict.Values{"chol": 198.0, "chol_mask": true})), ix.At(1)))
	check(ds.Close())

	old, err := memmap.Open("visits")
	check(err)
	defer old.Close()
	next, err := memmap.Open("next")
	check(err)
	defer next.Close()
	opt := inspect.RowDifferencesOptions{By: []nestedkey.Key{"id", "day"}} // which rows are the same
	for d, err := range inspect.RowDifferences(ctx, old, next, opt) {
		check(err)
		fmt.Println(d)
	}
}

func compareInTest() {
	want, err := tdict.FromValues([]int{2}, tdict.Values{"x": []float64{1, 2}, "y": []int64{1, 2}})
	check(err)
	got, err := tdict.FromValues([]int{2}, tdict.Values{"x": []float64{1, 2.001}, "y": []int64{1, 3}})
	check(err)
	for d := range want.DiffsWithin(got, tensor.Tolerance{Relative: 0.01}) {
		fmt.Println(d) // t.Error(d) in a test
	}
}
