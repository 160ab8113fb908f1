package command

type cacheCmd struct {
	Create createCmd      `cmd:"" help:"Make a cache."`
	Put    putCmd         `cmd:"" help:"Run programs that write samples, and put the samples into a cache."`
	Status statusCmd      `cmd:"" help:"Print the state of a cache, and the waits of producers and groups."`
	Doctor cacheDoctor    `cmd:"" help:"Look for what stands in the way of a cache."`
	Keep   keepCmd        `cmd:"" help:"Make a dataset of a generation."`
	Verify cacheVerifyCmd `cmd:"" help:"Compare the checksums of all generations that are kept."`
	Mirror mirrorCmd      `cmd:"" help:"Copy the generations of a cache on NATS servers into a directory."`
	Remove removeCmd      `cmd:"" name:"rm" help:"Remove a cache that nobody uses."`
	Serve  serveCmd       `cmd:"" help:"Serve a cache to the Python programs of wirehead."`
	NATS   natsCmd        `cmd:"" name:"nats" help:"Run a NATS server for caches."`
}

func (cacheCmd) Help() string {
	return `
A circular cache takes samples from generators, and gives whole generations of them to training jobs. PLACE is a directory of this machine, or nats://HOST/NAME for a cache on NATS servers, which needs the binary of cmd/tdict-nats. docs/samplecache.md describes caches, docs/cli.md the commands.

Examples:

	tdict cache create /dev/shm/brains --like brain.safetensors --samples 100
	tdict cache put /dev/shm/brains --name gen -n 4 -- python draw.py
	tdict cache status /dev/shm/brains --watch
	tdict cache doctor /dev/shm/brains
	tdict cache rm /dev/shm/brains`
}
