package testkit

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Err returns only the error of a call.
func Err[T any](_ T, err error) error { return err }

// Fails fails the test unless errors.Is(err, want) and err has the text in testdata/errors.txt for
// the name of the test. A test may call it once.
func Fails(t testing.TB, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
	got := strings.ReplaceAll(err.Error(), "\n", `\n`)
	all := readTexts(t)
	if os.Getenv("UPDATE_TEXTS") != "" {
		all[t.Name()] = got
		writeTexts(t, all)
		return
	}
	if text := all[t.Name()]; text != got {
		t.Errorf("got error text\n\t%s\n%s has\n\t%s", got, textFile, text)
	}
}

var textFile = filepath.Join("testdata", "errors.txt")

// readTexts returns the texts of the package under test, by the names of the tests.
func readTexts(t testing.TB) map[string]string {
	t.Helper()
	file, err := os.ReadFile(textFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(file)) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		all[name] = text
	}
	return all
}

func writeTexts(t testing.TB, all map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s\t%s\n", name, all[name])
	}
	err := errors.Join(os.MkdirAll(filepath.Dir(textFile), 0o777), os.WriteFile(textFile, []byte(b.String()), 0o666))
	if err != nil {
		t.Fatal(err)
	}
}

// A Refusal is an operation on a T that must fail with an error that wraps Is.
type Refusal[T any] = struct {
	Name string
	Op   func(x T) error
	Is   error
}

// Refuse runs each operation on a fresh T. The operation must fail as [Fails] says, and must not
// change what state returns for the T.
func Refuse[T any](t *testing.T, fresh func() T, state func(t testing.TB, x T) string, rows []Refusal[T]) {
	for _, row := range rows {
		t.Run(row.Name, func(t *testing.T) {
			x := fresh()
			Unchanged(t, x, state, func() { Fails(t, row.Is, row.Op(x)) })
		})
	}
}

// Unchanged fails the test if fn changes what state returns for x.
func Unchanged[T any](t testing.TB, x T, state func(t testing.TB, x T) string, fn func()) {
	t.Helper()
	before := state(t, x)
	fn()
	if after := state(t, x); after != before {
		t.Errorf("got changed to\n%s\nwant as before\n%s", after, before)
	}
}
