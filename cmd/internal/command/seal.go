package command

import "github.com/go-tensordict/tensordict/memmap"

type sealCmd struct {
	Written bool   `help:"Seal only leaves that were written through this module."`
	Path    string `arg:"" help:"A directory, an archive or a consolidated file."`
}

func (sealCmd) Help() string {
	return `
Python may change elements of a saved dataset in place. The checksums stay as they were, so verify and convert report damage. Seal accepts the elements as they are, and computes the checksums of all leaves that have checksums. Earlier damage is not found any more.

A program that writes elements in place through this module makes their checksums void, and sets them when it closes the dataset. If it was killed, or several programs wrote, verify counts leaves without checksums: --written seals these and no others.

Examples:

	tdict seal visits
	tdict seal visits --written`
}

func (c *sealCmd) Run(s *session) error {
	if c.Written {
		return memmap.SealWritten(s.ctx, c.Path)
	}
	return memmap.Seal(s.ctx, c.Path)
}
