package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// serve answers requests for the visits of a patient, before and after another visit is appended.
func serve(dir string) {
	live := tensor.Must(memmap.OpenLive(dir, memmap.LiveOptions{OnOpen: rowsOfPatients}))
	defer live.Close()
	listener := tensor.Must(net.Listen("tcp", "localhost:0"))
	server := &http.Server{Handler: handler(live)}
	go server.Serve(listener)
	defer server.Close()

	url := "http://" + listener.Addr().String() + "/patients/312"
	before := get(url)
	fmt.Println(before)
	appendVisit(dir)
	after := before
	for after == before { // at most some 200 ms
		time.Sleep(10 * time.Millisecond)
		after = get(url)
	}
	fmt.Println(after)
}

// rowsOfPatients returns the numbers of the rows of each patient. Live calls it once for each
// version of the dataset.
func rowsOfPatients(ds *memmap.Dataset) (any, error) {
	patients, err := tdict.Slice[int32](ds.TensorDict, "patient")
	rows := map[int32][]int{}
	for i, patient := range patients {
		rows[patient] = append(rows[patient], i)
	}
	return rows, err
}

// handler answers GET /patients/{id} with the visits of a patient, as JSON.
func handler(live *memmap.Live) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /patients/{id}", func(w http.ResponseWriter, r *http.Request) {
		ds, err := live.Acquire()
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer live.Release(ds)
		id, _ := strconv.Atoi(r.PathValue("id"))
		rows := ds.State().(map[int32][]int)[int32(id)]
		if rows == nil {
			http.Error(w, "no such patient", http.StatusNotFound)
			return
		}
		visits, err := ds.Index(ix.Take(rows...))
		if err == nil {
			visits, err = visits.Select("day", "target/stage")
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		json.NewEncoder(w).Encode(visits)
	})
	return mux
}

// appendVisit appends a visit of patient 312 to the dataset.
func appendVisit(dir string) {
	visit := tensor.Must(tdict.FromValues(nil, tdict.Values{
		"patient": int32(312), "day": int32(1200), "target/stage": int64(2),
		"labs":     []float32{6.4, 350, 3.1, 1300, 110, 240, 10.9},
		"measured": []bool{true, true, true, true, true, true, true},
	}))
	w := tensor.Must(memmap.NewWriter(dir, visit, memmap.WriterOptions{Resume: true}))
	check(w.Append(visit))
	check(w.Finish())
}

// get returns the body of a response.
func get(url string) string {
	response := tensor.Must(http.Get(url))
	defer response.Body.Close()
	return strings.TrimSpace(string(tensor.Must(io.ReadAll(response.Body))))
}
