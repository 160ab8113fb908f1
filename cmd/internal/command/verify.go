package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-tensordict/tensordict/interop/forms"
	"github.com/go-tensordict/tensordict/interop/npy"
	"github.com/go-tensordict/tensordict/memmap"
)

type verifyCmd struct {
	Paths []string `arg:"" name:"path" help:"Directories, archives, consolidated files and npz files."`
	Skip  bool     `name:"skip-unsupported" help:"Do not report what Python has pickled as damage."`
}

func (verifyCmd) Help() string {
	return `
Verify compares each block of 64 MiB of each leaf with its checksum, and checks each meta.json. Of an npz file it compares the CRC-32 of each member. It reads all paths, and reports all damage. The exit code is 1 if there is any, and 3 if a path could not be read or its form has no checksums.

Examples:

	tdict verify visits
	tdict verify visits.tdz parts/*`
}

func (c *verifyCmd) Run(s *session) error {
	var answer error
	for _, path := range c.Paths {
		err := c.verify(s, path)
		if s.ctx.Err() != nil {
			return err
		}
		if err != nil && !errors.Is(err, errNo) {
			s.print(err)
			answer = errReported
		} else if answer == nil {
			answer = err
		}
	}
	return answer
}

// verify verifies one path.
func (c *verifyCmd) verify(s *session, path string) error {
	switch form, err := forms.Of(path); {
	case err != nil && !errors.Is(err, forms.ErrForm) && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && form == forms.Npz:
		return c.verifyNpz(s, path)
	case err == nil && form != forms.Directory && form != forms.Archive && form != forms.Consolidated:
		return fmt.Errorf("%s: %v has no checksums: verify is for directories, tdz, tdc and npz", path, form)
	}
	report, err := memmap.Verify(s.ctx, path, memmap.VerifyOptions{Progress: s.progress, SkipPickled: c.Skip})
	s.endBar()
	switch damaged := errors.Is(err, memmap.ErrCorrupt) && !errors.Is(err, memmap.ErrForeign); {
	case report == nil && damaged:
		fmt.Fprintln(s.out, strings.TrimPrefix(err.Error(), "verify "))
		return errNo
	case report == nil, errors.Is(err, memmap.ErrForeign):
		return err
	}
	for _, damage := range report.Damage {
		fmt.Fprintf(s.out, "%s: %s\n", path, asFlags.Replace(fmt.Sprint(damage)))
	}
	if strings.Contains(fmt.Sprint(err), "Seal the dataset") {
		fmt.Fprintf(s.errs, "tdict: verify: %s: if the changes are right, tdict seal accepts them\n", path)
	}
	if err != nil && len(report.Damage) > 0 {
		return errNo
	} else if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s: sound, leaves: %d, without checksums: %d, bytes: %d\n", path, report.Leaves, len(report.Unsummed), report.Bytes)
	if n := len(report.Unsummed); n > 0 && n == report.Leaves {
		fmt.Fprintf(s.errs, "tdict: verify: %s: no leaf has checksums, so no element was compared: a copy by tdict convert has them\n", path)
	}
	return nil
}

// verifyNpz verifies an npz file.
func (c *verifyCmd) verifyNpz(s *session, path string) error {
	report, err := npy.Verify(s.ctx, path)
	if report == nil && errors.Is(err, npy.ErrCorrupt) {
		fmt.Fprintln(s.out, strings.TrimPrefix(err.Error(), "verify "))
		return errNo
	}
	if report == nil {
		return err
	}
	for _, damage := range report.Damage {
		fmt.Fprintf(s.out, "%s: %q: %v\n", path, damage.Name, damage.Err)
	}
	if len(report.Damage) > 0 {
		return errNo
	}
	fmt.Fprintf(s.out, "%s: sound, members: %d, bytes: %d\n", path, report.Members, report.Bytes)
	return nil
}
