package view

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view/internal/picture"
	"github.com/go-tensordict/tensordict/view/internal/shelf"
)

// picture answers with the PNG of one row.
func (v *visit) picture() error {
	n, err := v.plotted("pictures", v.hasPictures)
	if err != nil {
		return err
	}
	row, err := v.rowNumber()
	if err != nil {
		return err
	}
	if row < 0 {
		return fail(http.StatusBadRequest, "Which row?", "row: got nothing, want a number")
	}
	s, _, err := v.asked(v.r.Context(), n)
	if err != nil {
		return v.unread(n, err)
	}
	x, err := v.pixels(n, row)
	if err != nil {
		return v.unread(n, err)
	}
	return v.encode(n, x, s)
}

// pixels returns the picture of a row.
func (v *visit) pixels(n *shelf.Node, row int) (*tensor.Tensor, error) {
	part, mask, err := v.part(n, ix.At(row))
	if err != nil {
		return nil, err
	}
	x, ok := part.(*tensor.Tensor)
	if !ok {
		return nil, fmt.Errorf("%w: got %T, want a tensor", tdict.ErrKind, part)
	}
	hidden, err := hidesRow(mask)
	if err == nil && hidden {
		err = fail(http.StatusNotFound, "The picture is missing", "the mask of the leaf hides row "+strconv.Itoa(row))
	}
	return x, err
}

// hidesRow reports whether the part of a mask for one row hides all of it.
func hidesRow(mask *tensor.Tensor) (bool, error) {
	present, err := bits(mask)
	return mask != nil && !slices.Contains(present, true), err
}

// encode writes a picture.
func (v *visit) encode(n *shelf.Node, x *tensor.Tensor, s shown) error {
	out := &pictureWriter{visit: v}
	buffered := bufio.NewWriterSize(out, 64<<10)
	err := picture.Encode(buffered, x, s.layout, s.black, s.white)
	if err == nil {
		err = buffered.Flush()
	}
	switch {
	case err == nil, out.began: // the browser has gone in the middle of the picture
		return nil
	case errors.Is(err, picture.ErrLayout):
		return fail(http.StatusBadRequest, "The pictures do not have this layout", err.Error())
	}
	return v.unread(n, err)
}

// A pictureWriter writes a picture to the browser. It sets the header before the first byte, so
// that an error before it is a page.
type pictureWriter struct {
	*visit
	began bool
}

// Write writes some bytes of the picture.
func (w *pictureWriter) Write(b []byte) (int, error) {
	if !w.began {
		w.began = true
		w.w.Header().Set("Content-Type", "image/png")
		w.deadline()
	}
	return w.w.Write(b)
}
