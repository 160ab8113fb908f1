package tensorclass_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tdict/tensorclass"
	"github.com/go-tensordict/tensordict/tensor"
)

func TestRatios(t *testing.T) {
	if os.Getenv("RATIOS") == "" {
		t.Skip()
	}
	rows, c := steps(benchRows)
	td := tensor.Must(tensorclass.FromRows(rows))
	id, done := tensor.Must(tdict.Slice[int64](td, "id")), tensor.Must(tdict.Slice[int64](td, "done"))
	pos := tensor.Must(tdict.Slice[float64](td, "pos"))
	reward, tm := tensor.Must(tdict.Slice[float64](td, "reward")), tensor.Must(tdict.Slice[float64](td, "time"))
	var sum float64
	out := make([]step, benchRows)
	fns := []struct {
		n string
		f func()
	}{
		{"from loop", func() {
			for i := range rows {
				r := &rows[i]
				c.id[i], c.pos[i], c.reward[i], c.done[i], c.time[i] = r.ID, r.Pos, r.Reward, r.Done, r.Time
			}
		}},
		{"FromRows", func() { tensor.Must(tensorclass.FromRows(rows)) }},
		{"to loop", func() {
			for i := range out {
				r := &out[i]
				r.ID, r.Pos, r.Reward, r.Done, r.Time = c.id[i], c.pos[i], c.reward[i], c.done[i], c.time[i]
			}
		}},
		{"ToRows", func() { tensor.Must(tensorclass.ToRows[step](td)) }},
		{"make", func() { out = make([]step, benchRows) }},
		{"cols loop", func() {
			for i := range id {
				sum += float64(id[i]+done[i]) + pos[3*i] + pos[3*i+1] + pos[3*i+2] + reward[i] + tm[i]
			}
		}},
		{"Rows", func() {
			for r, err := range tensorclass.Rows[step](td) {
				if err != nil {
					t.Fatal(err)
				}
				sum += float64(r.ID+r.Done) + r.Pos[0] + r.Pos[1] + r.Pos[2] + r.Reward + r.Time
			}
		}},
		{"Rows empty body", func() {
			for range tensorclass.Rows[step](td) {
			}
		}},
	}
	best := make([]time.Duration, len(fns))
	for range 25 {
		for i, f := range fns {
			runtime.GC()
			s := time.Now()
			f.f()
			if d := time.Since(s); best[i] == 0 || d < best[i] {
				best[i] = d
			}
		}
	}
	for i, f := range fns {
		t.Log(f.n, best[i])
	}
	_ = sum
}
