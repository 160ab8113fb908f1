package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/go-tensordict/tensordict/interop/nrt"
)

// addMapped saves the data in a temporary file, maps the file and measures it.
func (r *results) addMapped(d *dataset, seed uint32, c config) (err error) {
	dir, err := os.MkdirTemp("", "nrt-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "patients.nrt")
	if err := nrt.Save(path, d.joint); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	r.saved = append(r.saved, float64(info.Size()))
	f, err := nrt.Open(path)
	if err != nil {
		return err
	}
	set := &raggedSet{joint: f.Joint, windows: d.windows}
	return errors.Join(measure(&r.mapped, set, seed, c.patients, c.batch), f.Close())
}
