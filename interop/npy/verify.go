package npy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/mapfile"
	"github.com/go-tensordict/tensordict/internal/zipfile"
)

// A Report is the result of [Verify].
type Report struct {
	Members int          // number of members
	Bytes   int64        // total size of their contents
	Damage  []*FileError // of each damaged member, in the order of the file
}

// Verify reads all members of an .npz archive and compares their CRC-32 checksums. It does not stop
// at the first that differs. If all agree, it opens the archive, as [OpenDict] does, whose error is
// damage, too. A .npy file has no checksums, so it is [ErrUnsupported].
//
// If there is damage, Verify returns the report, and an error about the first of it. If ctx ends,
// or the file is not an archive, Verify returns that error and no report.
func Verify(ctx context.Context, path string) (*Report, error) {
	mem, err := mapfile.OpenSingle(path, fileformat.Mapped(path))
	if err != nil {
		return nil, err
	}
	defer mem.Close() // nothing was written
	report := new(Report)
	err = mem.View(func(b []byte) error {
		if !isArchive(b) {
			return unsupported("got a file without checksums, want an archive")
		}
		a, err := zipfile.Open(bytes.NewReader(b), int64(len(b)), zipfile.MaxEntries)
		for i := 0; err == nil && i < len(a.Entries); i++ {
			e := a.Entries[i]
			report.Members, report.Bytes = report.Members+1, report.Bytes+e.Size
			_, failed := io.Copy(untilDone{ctx}, e.Reader(bytes.NewReader(b)))
			if err = ctx.Err(); failed != nil && err == nil {
				report.Damage = append(report.Damage, &FileError{Op: "verify", Path: path, Name: e.Name, Err: failed})
			}
		}
		return err
	})
	if err != nil {
		return nil, fileformat.Failed("verify", path, "", err)
	}
	if len(report.Damage) == 0 {
		return report, report.open(path)
	}
	first := *report.Damage[0]
	if more := len(report.Damage) - 1; more > 0 {
		first.Err = fmt.Errorf("%w (and %d more)", first.Err, more)
	}
	return report, &first
}

// open adds the error that keeps the arrays from being opened, and returns it.
func (r *Report) open(path string) error {
	d, err := OpenDict(path)
	if err == nil {
		return d.Close()
	}
	if e, ok := errors.AsType[*FileError](err); ok {
		damage := *e
		damage.Op = "verify"
		r.Damage = append(r.Damage, &damage)
	}
	return err
}

// An untilDone drops what is written to it, until ctx ends.
type untilDone struct{ ctx context.Context }

func (u untilDone) Write(b []byte) (int, error) { return len(b), u.ctx.Err() }
