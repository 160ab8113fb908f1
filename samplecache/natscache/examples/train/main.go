// Train is the trainer of examples/slurm, with caches on NATS servers. The ranks of a node read the
// mirror that "tdict cache mirror" fills there; samples that it does not have come from the
// servers.
//
//	go build -C samplecache/natscache -o "$HOME/bin/train" ./examples/train
//	train -password-file room/password -mirror /dev/shm/mirror nats://node7:4222/samples
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/go-tensordict/tensordict/examples/slurm/epochs"
	"github.com/go-tensordict/tensordict/samplecache"
	"github.com/go-tensordict/tensordict/samplecache/dircache"
	"github.com/go-tensordict/tensordict/samplecache/natscache"
)

var (
	passwordFile = flag.String("password-file", "", "file with the line USER:PASSWORD")
	mirror       = flag.String("mirror", "", "directory of this machine that a mirror fills")
)

func main() { epochs.Main(open) }

// open returns the engine of a cache in a directory, or at nats://HOST:PORT/NAME.
func open(place string) (samplecache.Engine, error) {
	if !strings.HasPrefix(place, "nats://") {
		return dircache.Engine{Dir: place}, nil
	}
	slash := strings.LastIndex(place, "/")
	e := natscache.Engine{URL: place[:slash], Name: place[slash+1:], Mirror: *mirror}
	if *passwordFile == "" {
		return e, nil
	}
	text, err := os.ReadFile(*passwordFile)
	if err != nil {
		return nil, err
	}
	user, password, ok := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !ok {
		return nil, fmt.Errorf("%s: want one line USER:PASSWORD", *passwordFile)
	}
	e.Options = []nats.Option{nats.UserInfo(user, password)}
	return e, nil
}
