package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRuns runs the program without Python. It draws a chart and leaves no files behind.
func TestRuns(t *testing.T) {
	c := config{rows: 1003, features: 10, batch: 32, rounds: 2, dir: t.TempDir(), svg: filepath.Join(t.TempDir(), "epochs.svg")}
	require.NoError(t, run(t.Context(), c))
	text, err := os.ReadFile(c.svg)
	require.NoError(t, err)
	require.NoError(t, wellFormed(string(text)))
	for _, r := range contenders(c) {
		require.Contains(t, string(text), ">"+r.name+"<")
	}
	left, err := os.ReadDir(c.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestConfig refuses a number that is too small.
func TestConfig(t *testing.T) {
	require.Error(t, run(t.Context(), config{rows: 1, features: 1, batch: 0, rounds: 1}))
}

// wellFormed returns an error unless a text is well-formed XML.
func wellFormed(text string) error {
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
