package command

type cacheCmd struct {
	Serve serveCmd `cmd:"" help:"Serve a circular cache to the Python programs of wirehead."`
}

func (cacheCmd) Help() string {
	return `
Cache serve takes the place of the MongoDB that wirehead uses: its generators, datasets and loggers connect to it unchanged. Samples are in DIR, which programs of this machine open with package dircache. If DIR does not exist, the first sample makes it.

It writes a line of JSON every few seconds, with the names of wirehead's logger. After SIGTERM no tickets are given out, and clients that have one may put their sample, for 10 seconds.

	tdict cache serve /dev/shm/brains --config config.yaml
	tdict cache serve /dev/shm/brains --config config.yaml --listen 0.0.0.0:27017 --password-file password`
}
