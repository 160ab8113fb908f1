// Tdict-arrow is the command tdict with Arrow and Parquet: each of its commands reads and writes
// .arrow, .feather, .ipc, .parquet and .pq files, too. If it is on the PATH, tdict runs it for
// these. Its manual is docs/cli.md.
//
//	$ go install -C cmd/tdict-arrow .
//	$ tdict-arrow convert visits.parquet visits
//	$ tdict-arrow schema visits.parquet
package main

import (
	"github.com/go-tensordict/tensordict/cmd/internal/command"
	"github.com/go-tensordict/tensordict/interop/arrow/arrowforms"
)

func main() {
	arrowforms.Register()
	command.Main(nil)
}
