package command

import (
	"errors"
	"fmt"
	"net"

	"github.com/go-tensordict/tensordict/internal/vfs"
)

type natsCmd struct {
	Dir          string `arg:"" help:"Directory for the files of the server. One server at a time uses it."`
	Listen       string `default:"127.0.0.1:4222" placeholder:"HOST:PORT" help:"Address; port 0 means a free one."`
	PasswordFile string `placeholder:"FILE" help:"File with the line USER:PASSWORD that clients log in with."`
	Durable      bool   `help:"Sync each write, so that samples survive a loss of power."`
	AddressFile  string `placeholder:"FILE" help:"Write HOST:PORT to FILE once clients can connect."`
}

func (c *natsCmd) Run(s *session) error {
	if s.servers == nil {
		return errNoServers
	}
	user, password, err := readPassword(c.PasswordFile)
	if err != nil {
		return err
	}
	at, err := net.ResolveTCPAddr("tcp", c.Listen)
	if err != nil {
		return s.usage("--listen: %v", err)
	}
	if !at.IP.IsLoopback() && user == "" {
		return s.usage("--listen %s lets other machines in: want --password-file", c.Listen)
	}
	address, closeServer, err := s.servers.Serve(RemoteServe{Dir: c.Dir, Addr: c.Listen, User: user, Password: password, Durable: c.Durable})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.errs, "tdict: %s: serving %s on %s\n", s.name, c.Dir, address)
	if err = writeAddress(s, c.AddressFile, address); err == nil {
		<-s.ctx.Done()
	}
	return errors.Join(err, closeServer())
}

// writeAddress writes an address to a file, which it replaces as a whole. "" is no file.
func writeAddress(s *session, path, address string) error {
	if path == "" {
		return nil
	}
	at, err := vfs.ResolveFile(path)
	if err != nil {
		return err
	}
	return vfs.SaveFile(s.ctx, vfs.OS, at, vfs.FileOptions{NoSync: true}, func(f vfs.File) error {
		_, err := fmt.Fprintln(f, address)
		return err
	})
}
