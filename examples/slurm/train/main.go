// Train is the trainer of the examples for SLURM. It waits for a cache in a directory of this
// machine, and reads its generations: see ../epochs.
//
//	go run ./examples/slurm/train -wait 10m /dev/shm/cache
package main

import (
	"github.com/go-tensordict/tensordict/examples/slurm/epochs"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
)

func main() {
	epochs.Main(func(dir string) (samplecache.Engine, error) { return dircache.Engine{Dir: dir}, nil })
}
