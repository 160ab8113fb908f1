package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// Every case about dictionaries gives the same on dictionaries that keep their members: on those
// cut along each dim of the batch and lazily stacked again, all inputs or only the first.
func TestConformanceOfLazyStacks(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "..", "testdata", "conformance", "tdict.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	ran, failed := map[string]int{}, 0
	for lines.Scan() {
		var c testCase
		must(json.Unmarshal(lines.Bytes(), &c))
		run := ops[c.Op]
		for dim := range len(c.dicts()[0].Shape()) {
			for _, only := range []bool{false, true}[:min(2, len(c.Inputs))] {
				in, ok := lazily(c.dicts(), dim, only)
				if !ok {
					continue
				}
				ran[c.Op]++
				if err := caught(func() error { return checkLazily(run, c, in) }); err != nil {
					failed++
					t.Errorf("%s, stacked along dim %d, only the first %t: %v", c.ID, dim, only, err)
				}
			}
		}
	}
	must(lines.Err())
	for name := range ops {
		if ran[name] == 0 {
			t.Errorf("no case of %s", name)
		}
	}
	t.Logf("%d failed of %v", failed, ran)
}

// lazily returns dictionaries cut along a dim and lazily stacked again: all, or only the first. It
// returns false if one has no such positions.
func lazily(in []dict, dim int, only bool) ([]dict, bool) {
	out := slices.Clone(in)
	for i, td := range in {
		if i > 0 && only {
			break
		}
		if dim >= len(td.Shape()) || td.Shape()[dim] == 0 {
			return nil, false
		}
		names := td.Names()
		out[i] = tensor.Must(tdict.LazyStack(cut(td, dim), dim))
		must(out[i].SetNames(names...))
	}
	return out, true
}

// checkLazily is check of a case with other inputs, whose results are made dense.
func checkLazily(run op, c testCase, in []dict) error {
	got, err := run(c, in)
	if err == nil {
		got, err = densely(got)
	}
	dense := make([]dict, len(in))
	for i, td := range in {
		d, err := td.Dense()
		if err != nil {
			return fmt.Errorf("input %d is not what it was: %w", i, err)
		}
		dense[i] = d
	}
	if fix := corrected(c); fix != nil {
		return fix.check(c, dense, got, err)
	}
	if c.Error != nil {
		if err == nil {
			return fmt.Errorf("got %v, want an error like %q", got, *c.Error)
		}
		return unchanged(c, dense)
	}
	if err != nil {
		return err
	}
	return compare(got, c.Want)
}

// densely returns a result of an operation without stacked members.
func densely(got any) (any, error) {
	switch got := got.(type) {
	case dict:
		return got.Dense()
	case *tdict.Stacked:
		return got.Dense()
	case []dict:
		out := slices.Clone(got)
		for i, td := range got {
			var err error
			if out[i], err = td.Dense(); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return got, nil
}

// cut returns copies of the positions of a dim.
func cut(td dict, dim int) []dict {
	rows := tensor.Must(shapeops.Unbind(td, dim))
	for i, row := range rows {
		rows[i] = tensor.Must(row.Clone())
	}
	return rows
}
