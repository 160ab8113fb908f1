package testkit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestReplay sees that a page is read as it should be.
func TestReplay(t *testing.T) {
	page := "# a\n```console\n$ tdict one\nold\n$ two\n> more\n>   of it\nold\n> not of it\n```\n```sh\n$ tdict three\n```\n```console\n$ four\nold\n```\n"
	wants := func(block string) bool { return strings.Contains(block, "tdict") }
	got := testkit.Replay(page, wants, func(command string) string { return "ran " + command + "\n" })
	require.Equal(t, "# a\n```console\n$ tdict one\nran tdict one\n$ two\n> more\n>   of it\nran two\nmore\n  of it\n```\n```sh\n$ tdict three\n```\n```console\n$ four\nold\n```\n", got)
}

// TestCells sees that the code of a table is found, and nothing behind it.
func TestCells(t *testing.T) {
	page := "# a\n| c | d |\n|---|---|\n| `x` | y |\n\n| pandas | Go |\n|---|---|\n| `df[\"a\"]` | ``f(`a`)`` |\n| `b` | `c d` |\n\n| `x` | y |\n"
	require.Equal(t, [][]string{{`df["a"]`, "f(`a`)"}, {"b", "c d"}}, testkit.Cells(page, "pandas"))
}
