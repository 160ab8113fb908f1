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
