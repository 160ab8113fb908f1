package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// A tally counts the cases of one operation in one file.
type tally struct{ passed, failed, skipped int }

// tallies has a tally for each "file/op": files about different kinds of value name some operations
// alike.
type tallies map[string]*tally

// of returns the tally of a case in a file.
func (ts tallies) of(file, op string) *tally {
	name := caseKind(file) + "/" + op
	if ts[name] == nil {
		ts[name] = &tally{}
	}
	return ts[name]
}

// caseKind returns the name of a file without extension: what its cases are about.
func caseKind(file string) string { return strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) }

func TestConformance(t *testing.T) {
	all := tallies{}
	dirs := []string{filepath.Join("..", "..", "..", "testdata", "conformance")}
	if dir := os.Getenv("CONFORMANCE_DIR"); dir != "" {
		dirs = append(dirs, dir)
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no case files (%v)", dir, err)
		}
		for _, file := range files {
			runFile(t, file, all)
		}
	}
	report(t, all)
}

// runFile runs each line of a file as a case.
func runFile(t *testing.T, file string, all tallies) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		runCase(t, file, c, all)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

func runCase(t *testing.T, file string, c testCase, all tallies) {
	n, run := all.of(file, c.Op), find(c)
	if run == nil {
		n.skipped++
		return
	}
	if err := run(c); err != nil {
		n.failed++
		t.Errorf("%s: %s: %v", filepath.Base(file), c.ID, err)
		return
	}
	n.passed++
}

// caught returns a panic of fn as an error.
func caught(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return fn()
}

// check runs a case on dictionaries and returns how it went wrong.
func check(run op, c testCase) error {
	in := c.dicts()
	got, err := run(c, in)
	if fix := corrected(c); fix != nil {
		return fix.check(c, in, got, err)
	}
	if c.Error != nil {
		if err == nil {
			return fmt.Errorf("got %v, want an error like %q", got, *c.Error)
		}
		return unchanged(c, in)
	}
	if err != nil {
		return err
	}
	return compare(got, c.Want)
}

// unchanged checks that an operation that failed has left its inputs alone.
func unchanged(c testCase, in []dict) error {
	for i, was := range c.dicts() {
		if !same(in[i], was) {
			return fmt.Errorf("failed, and changed input %d to %v", i, in[i])
		}
	}
	return nil
}

func compare(got any, want json.RawMessage) error {
	ok := false
	switch got := got.(type) {
	case dict:
		ok = isDict(want) && same(got, decodeDict(want))
	case *tensor.Tensor:
		ok = isTensor(want) && same(got, decodeTensor(want))
	case []dict:
		var wants []json.RawMessage
		must(json.Unmarshal(want, &wants))
		ok = slices.EqualFunc(got, wants, func(g dict, w json.RawMessage) bool { return same(g, decodeDict(w)) })
	default:
		var g, w any
		must(json.Unmarshal(tensor.Must(json.Marshal(got)), &g))
		must(json.Unmarshal(want, &w))
		ok = fmt.Sprint(g) == fmt.Sprint(w)
	}
	if !ok {
		return fmt.Errorf("got %v, want %s", got, want)
	}
	return nil
}

// same reports whether two values are equal, with NaN equal to NaN.
func same(a, b tdict.Value) bool {
	if t, ok := a.(*tensor.Tensor); ok {
		u, ok := b.(*tensor.Tensor)
		return ok && t.DType() == u.DType() && t.Shape().Equal(u.Shape()) && (t.Equal(u) || t.String() == u.String())
	}
	d, ok := a.(dict)
	e, ok2 := b.(dict)
	if !ok || !ok2 || !d.Shape().Equal(e.Shape()) || d.NumEntries() != e.NumEntries() || !slices.Equal(d.Names(), e.Names()) {
		return false
	}
	for name, v := range d.All() {
		if w, err := e.Get(name); err != nil || !same(v, w) {
			return false
		}
	}
	return true
}

// report prints a line for each operation and a last line for all.
func report(t *testing.T, all tallies) {
	var sum tally
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := all[name]
		fmt.Fprintf(&lines, "op %s: %d passed, %d failed, %d skipped\n", name, n.passed, n.failed, n.skipped)
		sum.passed += n.passed
		sum.failed += n.failed
		sum.skipped += n.skipped
	}
	if testing.Verbose() {
		fmt.Printf("%sconformance: %d passed, %d failed, %d skipped\n", lines.String(), sum.passed, sum.failed, sum.skipped)
	}
	if sum.passed == 0 || sum.failed > 0 {
		t.Errorf("%d passed, %d failed", sum.passed, sum.failed)
	}
}

// TestFilesAreToldApart: tallies go by file, and an operation on dictionaries is not run on other
// inputs.
func TestFilesAreToldApart(t *testing.T) {
	files := map[string]string{
		"unseen": `{"id":"x","op":"index","inputs":[{"batch":[2],"entries":{}}],"args":{"index":[{"int":0}]},"want":{"batch":[],"entries":{}}}`,
		"ragged": `{"id":"x","op":"index","inputs":[{"schema":{"a":"int64"},"lists":{"a":[7]}}],"args":{"index":[{"int":0}]},"want":{"a":{"dtype":"int64","shape":[],"data":[7]}}}`,
		"other":  `{"id":"x","op":"index","inputs":[{"rows":[]}],"args":{},"want":{}}`,
	}
	all, dir := tallies{}, t.TempDir()
	for name, line := range files {
		file := filepath.Join(dir, name+".jsonl")
		if err := os.WriteFile(file, []byte(line+"\n\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		runFile(t, file, all)
	}
	if got := *all["unseen/index"]; got != (tally{passed: 1}) {
		t.Errorf("unseen/index: got %+v", got)
	}
	if got := *all["ragged/index"]; got != (tally{passed: 1}) {
		t.Errorf("ragged/index: got %+v", got)
	}
	if got := *all["other/index"]; got != (tally{skipped: 1}) {
		t.Errorf("other/index: got %+v", got)
	}
}
