package command

type cacheCmd struct {
	Create createCmd      `cmd:"" help:"Make a cache."`
	Put    putCmd         `cmd:"" help:"Run programs that write samples, and put the samples into a cache."`
	Keep   keepCmd        `cmd:"" help:"Make a dataset of a generation."`
	Verify cacheVerifyCmd `cmd:"" help:"Compare the checksums of all generations that are kept."`
	Mirror mirrorCmd      `cmd:"" help:"Copy the generations of a cache on NATS servers into a directory."`
	Remove removeCmd      `cmd:"" name:"rm" help:"Remove a cache that nobody uses."`
	Serve  serveCmd       `cmd:"" help:"Serve a cache to the Python programs of wirehead."`
	NATS   natsCmd        `cmd:"" name:"nats" help:"Run a NATS server for caches."`
}

func (cacheCmd) Help() string {
	return `
Cache serve takes the place of the MongoDB that wirehead uses: its generators, datasets and loggers connect to it unchanged. Samples are in DIR, which programs of this machine open with package dircache. If DIR does not exist, the first sample makes it.

It writes a line of JSON every few seconds, with the names of wirehead's logger. After SIGTERM no tickets are given out, and clients that have one may put their sample, for 10 seconds.

	tdict cache serve /dev/shm/brains --config config.yaml
	tdict cache serve /dev/shm/brains --config config.yaml --listen 0.0.0.0:27017 --password-file password`
}
