// Package command is the command tdict. Two binaries have it: cmd/tdict, and cmd/tdict-nats, a
// separate module that adds caches on NATS servers. docs/cli.md is the manual of both.
//
// [Main] parses the command line with kong. Each command is a type with flags and a method Run, in
// the file with its name; the commands of caches are in files cache_*.go. Run gets a session
// (session.go): the streams, the progress bar, and how errors are printed. Datasets are opened in
// source.go, caches in place.go.
package command
