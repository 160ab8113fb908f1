package wire

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DecodeInto receives the next dictionary into dst. The leaves of both must have the same keys,
// kinds, dtypes and shapes. Elements and data of dst are set; its structure stays, so dst may be
// locked. Names of dims, classes and locks of the received dictionary are ignored.
//
// The first frame is read into memory of the Decoder, and copied to dst. A later frame of the same
// length is read straight to the elements of dst, without an allocation for a leaf, if the frame
// before fitted dst, all leaves of dst are dense, contiguous and writable, and its entries have the
// order of the frame.
//
// DecodeInto returns the errors of [Decoder.Decode] and
//
//   - tdict.ErrMissing and the other errors of TensorDict.UpdateInPlace, if the frame does not
//     fit dst; then dst is unchanged, and the Decoder is at the next frame
//   - tdict.ErrDiffers, if a frame that was read straight to dst turns out not to fit
//
// After ErrDiffers, and after an error within a frame that was read straight to dst, the elements
// of dst are undefined.
func (d *Decoder) DecodeInto(dst *tdict.TensorDict) error {
	if d.err != nil {
		return d.err
	}
	defer d.plan.Forget()
	if err := d.plan.Make(dst); err != nil {
		return failed("decode", err)
	}
	straight := d.fits != nil && bytes.Equal(d.fits, d.plan.Trailer(nil)) && d.plan.Writable()
	n, err := d.begin()
	if err != nil {
		return err
	}
	if straight && n == d.plan.Size()+len(d.text) {
		return failed("decode", d.straight(dst, n))
	}
	return failed("decode", d.copied(dst, n))
}

// copied receives a frame of n bytes in memory of d, and copies it to dst.
func (d *Decoder) copied(dst *tdict.TensorDict, n int) error {
	td, err := d.whole(n)
	if err != nil {
		return err
	}
	for key := range dst.Leaves() {
		if !td.Has(key) {
			return fileformat.In(string(key), fmt.Errorf("%w in the frame", tdict.ErrMissing))
		}
	}
	if err := dst.UpdateInPlace(td); err != nil {
		return err
	}
	return d.remember(dst)
}

// remember records in d.fits whether the next frame can be read straight to dst.
func (d *Decoder) remember(dst *tdict.TensorDict) error {
	if d.fits = d.fits[:0]; !d.plan.Dense() || !d.contents.Fits(&d.plan) {
		d.fits = nil
		return nil
	}
	err := d.plan.Make(dst) // again, since its data may have changed
	d.fits = append(d.fits, d.plan.Trailer(nil)...)
	return err
}

// straight receives a frame of n bytes to the elements of dst, as d.plan has planned it.
func (d *Decoder) straight(dst *tdict.TensorDict, n int) error {
	at := 0
	for start, t := range d.plan.Tensors {
		if err := d.skip(start - at); err != nil {
			return err
		}
		if err := d.broken(t.ReadFull(d.r)); err != nil {
			return err
		}
		at = start + t.ByteSize()
	}
	if err := d.skip(d.plan.Size() - at); err != nil {
		return err
	}
	return d.trailer(dst, n)
}

// skip discards n bytes.
func (d *Decoder) skip(n int) error {
	if n == 0 {
		return nil
	}
	_, err := d.r.Discard(n)
	return d.broken(err)
}

// trailer receives the trailer of a frame of n bytes, and checks that the data before it fits dst.
func (d *Decoder) trailer(dst *tdict.TensorDict, n int) error {
	size := n - d.plan.Size()
	if cap(d.mem) < size {
		d.mem = room(size)
	}
	trailer := d.mem[:size]
	if err := d.full(trailer); err != nil {
		return err
	}
	if bytes.Equal(trailer, d.text) {
		return nil
	}
	text, data, short, err := tdc.Cut(trailer, int64(n))
	if err != nil {
		return err
	}
	if short == 0 && data == d.plan.Size() {
		f, err := d.parsed(trailer, text, data)
		if err != nil {
			return err
		}
		if f.Fits(&d.plan) {
			return d.setData(dst, f)
		}
	}
	d.fits = nil
	return fmt.Errorf("%w: the frame was read to the destination, but has other leaves than the frame before it", tdict.ErrDiffers)
}

// setData sets the data of dst to the data of f, which fits dst.
func (d *Decoder) setData(dst *tdict.TensorDict, f *tdc.Contents) error {
	keys := f.DataKeys()
	if len(keys) == 0 {
		return d.remember(dst)
	}
	own := map[int]*tensor.Tensor{}
	for start, t := range d.plan.Tensors {
		if t.Size() > 0 {
			own[start] = t
		}
	}
	td, err := f.Dict(tdc.Maker{Tensor: func(l *tdc.Leaf) (*tensor.Tensor, error) { return own[l.Start], nil }})
	if err == nil {
		err = dst.UpdateInPlace(td, keys...)
	}
	if err != nil {
		return err
	}
	return d.remember(dst)
}
