//go:build unix

package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/cmd/internal/doctor"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// TestCacheDoctor examines a cache, a path that does not exist, and paths of other files.
func TestCacheDoctor(t *testing.T) {
	dir := testkit.TempDir(t)
	schema := tdict.New()
	require.NoError(t, schema.Set("x", tensor.Must(tensor.NewMeta(tensor.Uint8, 9))))
	require.NoError(t, dircache.Create(filepath.Join(dir, "brains"), schema, samplecache.Config{Samples: 2}))
	for name, size := range map[string]int{"small.json": 9, "large.json": 1e14} {
		text := fmt.Sprintf(`{"version":1,"entries":[{"key":"x","kind":"tensor","dtype":"uint8","shape":[%d]}]}`, size)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	for _, tt := range []struct {
		args   string
		code   int
		stdout string // how it begins
		stderr string
	}{
		{"brains", 0, "ok       brains is a cache: no generation yet, the next has 0 of 2 samples\nok       this user may write to ", ""},
		{"new", 0, "ok       new does not exist yet\n", ""},
		{"new --schema large.json --samples 20", 1, "ok       new does not exist yet\n", ""},
		{"new --schema small.json --samples 2", 0, "ok       new does not exist yet\n", ""},
		{"new --schema large.json", 2, "", "want --samples"},
		{"new --samples 2", 2, "", "want --schema or --like"},
		{"new --schema large.json --samples -2", 2, "", "got --samples -2"},
		{"new --schema nlarge.json --samples 2", 3, "", "nlarge.json"},
		{"nats://here/brains --schema large.json --samples 20", 2, "", "are for directories"},
		{".", 1, "problem  . is not a cache: it has no file MANIFEST: give the directory of a cache, or ", ""},
		{". --json", 1, `{"severity":"problem","text":". is not a cache: it has no file MANIFEST","do":"give the directory of a cache, or `, ""},
		{"brains --password-file f", 2, "", "--password-file, --creds and --ca are for nats://, got brains"},
		{"nats://here/brains", 3, "", "this tdict has no NATS: "},
		{"-", 2, "", "got -, want a file"},
	} {
		got := command(t, dir, append([]string{"cache", "doctor"}, strings.Fields(tt.args)...)...)
		require.Equal(t, tt.code, got.code, "%s: %+v", tt.args, got)
		require.True(t, strings.HasPrefix(got.stdout, tt.stdout), "%s: %+v", tt.args, got)
		require.Contains(t, got.stderr, tt.stderr, tt.args)
	}
	require.Equal(t, 2, command(t, dir, "cache", "doctor", "").code, "an empty place")
	require.Regexp(t, "problem  the file system of .* has .* free, and 2 generations need 4.0 PB: ",
		command(t, dir, "cache", "doctor", "new", "--schema", "large.json", "--samples", "20", "--retain", "0").stdout)
	for line := range strings.Lines(command(t, dir, "cache", "doctor", "brains", "--json").stdout) {
		var f doctor.Finding
		require.NoError(t, json.Unmarshal([]byte(line), &f))
		require.NotEmpty(t, f.Text)
		require.Equal(t, f.Severity != doctor.Fine, f.Do != "")
	}
}

// examined implements Servers with fixed findings.
type examined struct {
	Servers
	at    Remote
	found []doctor.Finding
	err   error
}

func (e *examined) Examine(_ context.Context, at Remote) ([]doctor.Finding, error) {
	e.at = at
	return e.found, e.err
}

// TestCacheDoctorOfServers prints findings about servers in the form of findings about a directory.
func TestCacheDoctorOfServers(t *testing.T) {
	warning := doctor.Finding{Severity: doctor.Warning, Text: "a\nb <c>", Do: "do & see"}
	problem := doctor.Finding{Severity: doctor.Problem, Text: "d", Do: "e"}
	for _, tt := range []struct {
		rule   string
		flags  []string
		found  []doctor.Finding
		err    error
		code   int
		stdout string
	}{
		{"a warning is no problem", nil, []doctor.Finding{warning}, nil, 0, "warning  a; b <c>: do & see\n"},
		{"a problem", nil, []doctor.Finding{warning, problem}, nil, 1, "warning  a; b <c>: do & see\nproblem  d: e\n"},
		{"JSON", []string{"--json"}, []doctor.Finding{warning, problem}, nil, 1, `{"severity":"warning","text":"a\nb <c>","do":"do & see"}` + "\n" + `{"severity":"problem","text":"d","do":"e"}` + "\n"},
		{"an error", nil, nil, errors.New("no file"), 3, ""},
	} {
		servers := &examined{found: tt.found, err: tt.err}
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), servers, append([]string{"cache", "doctor", "nats://here/brains"}, tt.flags...), &stdout, &stderr)
		require.Equal(t, tt.code, code, tt.rule)
		require.Equal(t, tt.stdout, stdout.String(), tt.rule)
		require.Equal(t, Remote{URL: "nats://here:4222", Name: "brains"}, servers.at, tt.rule)
	}
}
