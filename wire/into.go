package wire

import (
	"bytes"
	"fmt"

	"github.com/go-tensordict/tensordict/internal/fileformat"
	"github.com/go-tensordict/tensordict/internal/tdc"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

// DecodeInto receives the next dictionary into dst, whose structure stays as it is and may be
// locked: the leaves must have the same keys, kinds, dtypes and shapes. Data is set too. Names of
// dims, classes and locks of what is received are not looked at.
//
// The first frame lies in the memory of the Decoder before it is copied to dst. A frame after one
// that fitted dst, of the same length, is read straight to where the elements belong, if all leaves
// of dst are dense, contiguous and writable, and its entries come in the order of the frame. Then
// nothing is allocated for a leaf.
//
// The errors are those of [Decoder.Decode]; tdict.ErrMissing and the other errors of
// TensorDict.UpdateInPlace if the frame does not fit dst, which leave dst as it was and the Decoder
// at the next frame; and tdict.ErrDiffers if a frame that was read straight turns out not to fit.
// After that, and after an error within such a frame, elements of dst are any.
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

// remember notes whether the next frame can be read straight to dst.
func (d *Decoder) remember(dst *tdict.TensorDict) error {
	if d.fits = d.fits[:0]; !d.plan.Dense() || !d.form.Fits(&d.plan) {
		d.fits = nil
		return nil
	}
	err := d.plan.Make(dst) // again, since its data may be other now
	d.fits = append(d.fits, d.plan.Trailer(nil)...)
	return err
}

// straight receives a frame of n bytes to where the elements of dst are, which d.plan says.
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

// skip passes over n bytes.
func (d *Decoder) skip(n int) error {
	if n == 0 {
		return nil
	}
	_, err := d.r.Discard(n)
	return d.broken(err)
}

// trailer receives the trailer of a frame of n bytes, and checks that the data before it was that
// of dst.
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
	return fmt.Errorf("%w: the frame has other leaves than the one before it, and was read to elements of the destination", tdict.ErrDiffers)
}

// setData sets the data of dst to that of a form that fits it.
func (d *Decoder) setData(dst *tdict.TensorDict, f *tdc.Form) error {
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
