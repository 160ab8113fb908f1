package main

import "github.com/go-tensordict/tensordict/memmap"

type sealCmd struct {
	Path string `arg:"" help:"A directory, an archive or a consolidated file."`
}

func (sealCmd) Help() string {
	return `
Python may change elements of a saved dataset in place. The checksums do not know that: verify and convert call the dataset damaged. Seal takes the elements that are there as right, and computes the checksums of all leaves that have some. Earlier damage is not found any more.

Examples:

	tdict seal visits`
}

func (c *sealCmd) Run(s *session) error { return memmap.Seal(s.ctx, c.Path) }
