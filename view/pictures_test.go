package view_test

import (
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// given returns the pages of a dictionary that the program has opened.
func given(t testing.TB, td *tdict.TensorDict) *view.Server {
	t.Helper()
	return serve(t, view.Options{Sources: []view.Source{{Name: "given", Dict: td, Schema: maskedByName(td)}}})
}

// dense returns a dictionary of n rows with one leaf "x" of float64, with the values of fn.
func dense(t testing.TB, fn func(i int) float64, shape ...int) *tdict.TensorDict {
	t.Helper()
	size := 1
	for _, n := range shape {
		size *= n
	}
	values := make([]float64, size)
	for i := range values {
		values[i] = fn(i)
	}
	td := tdict.New(shape[0])
	put(t, td, "x", tensor.Must(tensor.From(values, shape...)))
	return td
}

// drawnImage returns the PNG at an address, which must be answered with 200.
func drawnImage(t testing.TB, s http.Handler, address string) image.Image {
	t.Helper()
	w := get(t, s, address)
	require.Equal(t, http.StatusOK, w.Code, "%s: %s", address, words(w.Body.String()))
	require.Equal(t, "image/png", w.Header().Get("Content-Type"))
	return tensor.Must(png.Decode(w.Body))
}

// grey returns the grey of a value by the rule of package picture.
func grey(value, black, white float64) uint8 {
	if math.IsNaN(value) {
		return 0
	}
	return uint8(math.Floor(255*min(max((value-black)/(white-black), 0), 1) + 0.5))
}

// TestPictures looks for what the page of pictures must say.
func TestPictures(t *testing.T) {
	s := serve(t, view.Options{}, save(t, digits(), "digits"), save(t, visits(), "visits"))
	for _, tt := range []struct{ rule, address, want string }{
		{"the rows, and the guess", "d=digits", "Pictures 0 to 95 of 1,797, in the order of the data"},
		{"the guess", "d=digits&k=image", "guessed from uint8 [1797 8 8]"},
		{"the same values", "d=digits&black=0&white=16&layout=N+H+W", "guessed from uint8 [1797 8 8]"},
		{"other values", "d=digits&white=9", "the guess from uint8 [1797 8 8] is N H W, 0 to 16"},
		{"the last page", "d=digits&from=1796", "1,796 to 1,796 of 1,797"},
		{"rows from the end", "d=digits&from=-3", "1,794 to 1,796 of 1,797"},
		{"a row beyond the end", "d=digits&from=9223372036854775807", "1,796 to 1,796 of 1,797"},
		{"a row far before the beginning", "d=digits&from=-9223372036854775808", "0 to 95 of 1,797"},
		{"the number of a page", "d=digits", "96 a page"},
		{"fields of another leaf are guessed anew", "d=digits&k=image&of=other&layout=N+H+W+C&white=3&label=none", "guessed from uint8 [1797 8 8]"},
	} {
		t.Run(tt.rule, func(t *testing.T) { require.Contains(t, words(page(t, s, "/pictures?"+tt.address)), tt.want) })
	}
	body := page(t, s, "/pictures?d=digits")
	for _, field := range []string{
		`<input type="hidden" name="d" value="digits">`, `<input type="hidden" name="v" value="`, `<option value="image" selected>`,
		`<option value="N H W" selected>`, `name="black" value="0"`, `name="white" value="16"`, `<option value="meta%2Flabel" selected>meta/label`,
	} {
		require.Contains(t, body, field)
	}
	require.Less(t, len(body), 40_000)
}

var pictureItem = regexp.MustCompile(`<li><a href="(rows[^"]*)" data-item><img src="(picture[^"]*)" alt="([^"]*)"[^>]*><span class="under"><b>(?:<bdi>)?(.*?)(?:</bdi>)?</b> <small>([^<]*)<`)

// TestPictureLabels compares labels, row numbers and links with the data.
func TestPictureLabels(t *testing.T) {
	s := serve(t, view.Options{}, save(t, digits(), "digits"))
	labels := tensor.Must(tensor.Must(digits().Tensor("meta/label")).Ints())
	for _, from := range []int{0, 96, 1728} {
		items := pictureItem.FindAllStringSubmatch(page(t, s, fmt.Sprintf("/pictures?from=%d", from)), -1)
		require.Len(t, items, min(96, 1797-from))
		for i, item := range items {
			row := from + i
			number := strings.TrimPrefix(fmt.Sprintf("%d,%03d", row/1000, row%1000), "0,")
			if row < 1000 {
				number = fmt.Sprint(row)
			}
			require.Equal(t, fmt.Sprintf("row %s, label %d", number, labels[row]), item[3])
			require.Equal(t, fmt.Sprint(labels[row]), item[4])
			require.Equal(t, number, item[5])
			link := tensor.Must(url.Parse(html.UnescapeString(item[1])))
			require.Equal(t, fmt.Sprint(row), link.Query().Get("row"))
		}
	}
	require.Contains(t, page(t, s, "/pictures?label=meta%252Findex&from=40"), `alt="row 40, label 40"`)
	require.Contains(t, page(t, s, "/pictures?label=~"), `alt="row 13"`, "without a label")
}

// TestPicturePixels compares the pictures of a page with the values of the data.
func TestPicturePixels(t *testing.T) {
	s := serve(t, view.Options{}, save(t, digits(), "digits"))
	values := tensor.Must(tensor.Must(digits().Tensor("image")).Ints())
	for _, tt := range []struct {
		rule, query  string
		black, white float64
	}{{"as guessed", "", 0, 16}, {"narrower", "&black=3&white=9.5", 3, 9.5}, {"inverted", "&black=16&white=0", 16, 0}} {
		items := pictureItem.FindAllStringSubmatch(page(t, s, "/pictures?from=1700"+tt.query), -1)
		for _, i := range []int{0, 31, 95} {
			got := drawnImage(t, s, "/"+html.UnescapeString(items[i][2]))
			require.Equal(t, image.Rect(0, 0, 8, 8), got.Bounds())
			for at := range 64 {
				want := grey(float64(values[(1700+i)*64+at]), tt.black, tt.white)
				require.Equal(t, color.Gray{Y: want}, color.GrayModel.Convert(got.At(at%8, at/8)), "%s: row %d, pixel %d", tt.rule, 1700+i, at)
			}
		}
	}
	require.Equal(t, drawnImage(t, s, "/picture?row=1796"), drawnImage(t, s, "/picture?row=-1"), "rows from the end")
}

// TestPictureLayouts checks where a value of each layout is drawn.
func TestPictureLayouts(t *testing.T) {
	for _, tt := range []struct {
		rule, layout string
		shape        []int
		at           func(x, y, c int) int // position of a value in a row
	}{
		{"channels last", "nhwc", []int{3, 5, 4, 3}, func(x, y, c int) int { return (y*4+x)*3 + c }},
		{"channels first", "nchw", []int{3, 3, 5, 4}, func(x, y, c int) int { return c*20 + y*4 + x }},
		{"both fit, last", "nhwc", []int{3, 4, 4, 4}, func(x, y, c int) int { return (y*4+x)*4 + c }},
		{"both fit, first", "N C H W", []int{3, 4, 4, 4}, func(x, y, c int) int { return c*16 + y*4 + x }},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			s := given(t, dense(t, func(i int) float64 { return float64(i*37%101) / 100 }, tt.shape...))
			got := drawnImage(t, s, "/picture?k=x&row=2&black=0&white=1&layout="+url.QueryEscape(tt.layout))
			size := got.Bounds().Size()
			count := tt.shape[1] * tt.shape[2] * tt.shape[3]
			for y := range size.Y {
				for x := range size.X {
					pixel := color.NRGBAModel.Convert(got.At(x, y)).(color.NRGBA)
					if pixel.A == 0 {
						continue // it has no colour
					}
					for c, is := range []uint8{pixel.R, pixel.G, pixel.B} {
						value := float64((2*count+tt.at(x, y, c))*37%101) / 100
						require.InDelta(t, grey(value, 0, 1), is, 0, "x %d, y %d, channel %d", x, y, c)
					}
				}
			}
		})
	}
}

// TestPicturePages checks how many pictures a page has, and when they are smoothed.
func TestPicturePages(t *testing.T) {
	for _, tt := range []struct {
		rule   string
		shape  []int
		want   int
		smooth bool
	}{
		{"small pictures", []int{98, 8, 8}, 96, false},
		{"half the size on the page", []int{98, 46, 46}, 96, false},
		{"larger", []int{98, 47, 47}, 96, true},
		{"64 x 64", []int{98, 64, 64}, 96, true},
		{"larger than 64 x 64", []int{98, 65, 64}, 64, true},
		{"224 x 224 in colour", []int{66, 3, 224, 224}, 64, true},
		{"as many values as 64 of them", []int{36, 300, 300, 3}, 35, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			td := tdict.New(tt.shape[0])
			put(t, td, "x", tensor.Must(tensor.New(tensor.Uint8, tt.shape...)))
			body := page(t, given(t, td), "/pictures")
			require.Equal(t, tt.want, strings.Count(body, "<img "))
			require.Equal(t, tt.smooth, strings.Contains(body, "smooth"))
		})
	}
}

// TestPictureRefusals has a row for each address that is refused.
func TestPictureRefusals(t *testing.T) {
	td := dense(t, func(i int) float64 { return float64(i) }, 6, 8, 8)
	put(t, td, "scalar", tensor.Must(tensor.New(tensor.Int64, 6)))
	put(t, td, "text", tensor.Must(ragged.FromStrings(make([]string, 6))))
	put(t, td, "complex", tensor.Must(tensor.New(tensor.Complex64, 6, 8, 8)))
	put(t, td, "dict/y", tensor.Must(tensor.New(tensor.Int64, 6)))
	put(t, td, "hidden", tensor.Must(tensor.New(tensor.Uint8, 6, 8, 8)))
	present := tensor.Must(tensor.Full(true, 6, 8, 8))
	require.NoError(t, present.SetIndex(tensor.Scalar(false), ix.At(1)))
	put(t, td, "hidden_mask", present)
	s := given(t, td)
	for _, tt := range []struct {
		rule, address string
		code          int
		want          string
	}{
		{"no such key", "pictures?k=nothing", 404, "nothing is no key of given"},
		{"a leaf that does not fit", "pictures?k=scalar", 400, "Pictures are numbers, not complex, with [H W]"},
		{"text", "pictures?k=text", 400, "cannot be shown as pictures"},
		{"complex numbers", "picture?k=complex&row=0", 400, "cannot be shown as pictures"},
		{"a dictionary", "pictures?k=dict", 400, "cannot be shown as pictures"},
		{"a layout that does not exist", "pictures?k=x&layout=whn", 400, "want N H W for float64 [8 8] in each row"},
		{"a layout that does not fit", "picture?k=x&row=0&layout=nhwc", 400, `got "nhwc", want N H W`},
		{"NaN", "pictures?k=x&black=NaN", 400, "want a finite number"},
		{"infinite", "picture?k=x&row=0&white=-Inf", 400, "want a finite number"},
		{"too large", "pictures?k=x&white=1e999", 400, "want a finite number"},
		{"words", "pictures?k=x&black=dark", 400, "want a finite number"},
		{"a page that is no number", "pictures?k=x&from=1.5", 400, "want a whole number"},
		{"no row", "picture?k=x", 400, "Which row?"},
		{"no such row", "picture?k=x&row=6", 404, "There is no such row"},
		{"no such row from the end", "picture?k=x&row=-7", 404, "There is no such row"},
		{"a row that is too large a number", "picture?k=x&row=99999999999999999999", 400, "want a whole number"},
		{"a row that a mask hides", "picture?k=hidden&row=1", 404, "The picture is missing"},
		{"no such label", "pictures?k=x&label=nothing", 400, "This leaf is no label"},
		{"a label that is a picture", "pictures?k=x&label=hidden", 400, "This leaf is no label"},
		{"a label that cannot be read", "pictures?k=x&label=%25zz", 400, "This leaf is no label"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := get(t, s, "/"+tt.address)
			require.Equal(t, tt.code, w.Code)
			require.Contains(t, words(w.Body.String()), tt.want)
			require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
		})
	}
	scalars := tdict.New()
	put(t, scalars, "x", tensor.Must(tensor.New(tensor.Uint8, 8, 8)))
	for _, address := range []string{"/pictures", "/pictures?k=x", "/picture?k=x&row=0", "/lines"} {
		require.Equal(t, http.StatusNotFound, get(t, given(t, scalars), address).Code, "%s of a batch without dims", address)
	}
	none := tdict.New(3)
	require.Equal(t, http.StatusNotFound, get(t, given(t, none), "/pictures").Code, "a dataset without pictures")
}

// TestPicturesLeftOut looks for what a page says of values that it does not show.
func TestPicturesLeftOut(t *testing.T) {
	td := dense(t, func(i int) float64 { return []float64{1, math.NaN(), 2, math.Inf(1), 3, 4, 5, 6}[i%8] }, 4, 4, 4)
	present := tensor.Must(tensor.Full(true, 4, 4, 4))
	require.NoError(t, present.SetIndex(tensor.Scalar(false), ix.At(1)))
	put(t, td, "x_mask", present)
	put(t, td, "label", tensor.Vector[int64](7, 8, 9, 10))
	put(t, td, "label_mask", tensor.Vector(true, true, false, true))
	put(t, td, "part", tensor.Must(tensor.New(tensor.Uint8, 4, 4, 4)))
	present = tensor.Must(tensor.Full(false, 4, 4, 4))
	require.NoError(t, present.SetIndex(tensor.Scalar(true), ix.All, ix.At(2)))
	put(t, td, "part_mask", present)
	s := given(t, td)
	body := page(t, s, "/pictures?k=x")
	require.Equal(t, 3, strings.Count(body, "<img "))
	require.Contains(t, words(body), "7 0 missing 8 1 missing 2 10 3", "labels and row numbers: row 1 is missing, and the label of row 2")
	require.Contains(t, body, `alt="row 2, label missing"`)
	require.Contains(t, words(body), "NaN is black: 6 values.", "of the rows that are present")
	require.Contains(t, words(body), "Infinite values are black or white: 6 values.")
	require.Contains(t, words(page(t, s, "/pictures?k=part")), "A picture is missing if part_mask hides all of it. Other missing values are shown as they are stored.")

	empty := tdict.New(0)
	put(t, empty, "x", tensor.Must(tensor.New(tensor.Uint8, 0, 8, 8)))
	require.Contains(t, words(page(t, given(t, empty), "/pictures?k=x")), "No pictures yet: the shape is [0 8 8]")
	require.Equal(t, http.StatusNotFound, get(t, given(t, empty), "/picture?k=x&row=0").Code)
}

// TestPicturesOfBatches shows datasets with several batch dims: a row is a position of the first
// one.
func TestPicturesOfBatches(t *testing.T) {
	td := tdict.New(3, 4)
	values := make([]uint8, 3*4*16)
	for i := range values {
		values[i] = uint8(i)
	}
	put(t, td, "rgba", tensor.Must(tensor.From(values, 3, 4, 4, 4)))
	put(t, td, "grey", tensor.Must(tensor.From(values, 3, 4, 16)))
	put(t, td, "label", tensor.Must(tensor.New(tensor.Int64, 3, 4)))
	present := tensor.Must(tensor.Full(false, 3, 4, 16))
	require.NoError(t, present.SetIndex(tensor.Scalar(true), ix.All, ix.At(3)))
	put(t, td, "grey_mask", present)
	put(t, td, "many", tensor.Must(tensor.New(tensor.Uint8, 3, 4, 2, 8, 8)))
	s := given(t, td)
	body := page(t, s, "/pictures?k=grey")
	require.Equal(t, 3, strings.Count(body, "<img "))
	require.Contains(t, words(body), "A picture is missing if grey_mask hides all of it.")
	require.NotContains(t, body, "name=\"label\"", "no leaf has one number in each row")
	require.Equal(t, color.Gray{Y: 2*64 + 3*16 + 5}, drawnImage(t, s, "/picture?k=grey&row=2&black=0&white=255").At(5, 3), "element [2 3 5]")
	require.Equal(t, http.StatusBadRequest, get(t, s, "/pictures?k=many").Code)
	require.Equal(t, http.StatusBadRequest, get(t, s, "/picture?k=many&row=0").Code)
	none := tdict.New(3, 0)
	put(t, none, "x", tensor.Must(tensor.New(tensor.Uint8, 3, 0, 8, 8)))
	require.Equal(t, http.StatusBadRequest, get(t, given(t, none), "/pictures?k=x").Code)
}

// TestPictureFault cuts the file of a leaf while it is served.
func TestPictureFault(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut")
	}
	td := tdict.New(4)
	put(t, td, "x", tensor.Must(tensor.New(tensor.Uint8, 4, 64, 64)))
	put(t, td, "label", tensor.Must(tensor.New(tensor.Int64, 4)))
	path := save(t, td, "cut")
	s := serve(t, view.Options{}, path)
	body := page(t, s, "/pictures")
	items := pictureItem.FindAllStringSubmatch(body, -1)
	require.NoError(t, os.Truncate(filepath.Join(path, "x.memmap"), 0))
	for _, item := range items {
		w := get(t, s, "/"+html.UnescapeString(item[2]))
		require.Equal(t, http.StatusInternalServerError, w.Code)
		require.Contains(t, words(w.Body.String()), "fault in mapped memory: at byte")
		require.NotContains(t, w.Body.String(), filepath.Dir(path), "it shows no path of the machine")
		require.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	}
	require.NoError(t, os.Truncate(filepath.Join(path, "label.memmap"), 0))
	body = page(t, s, "/pictures")
	require.Contains(t, words(body), "fault in mapped memory", "of the labels")
	require.Equal(t, 4, strings.Count(body, "<img "), "the pictures are there")
}

// FuzzPlots asks for pages of pictures and lines by any query.
func FuzzPlots(f *testing.F) {
	for _, query := range []string{
		"k=x&row=1&from=2", "k=ragged%2Fflat&x=ragged%2Fflat&lo=3&hi=-3", "k=image&layout=nchw&black=1e308&white=-1e308&size=l&label=~", "f=99999999999999999999&row=-1",
		"escaped=image&of=x&label=&x=~", "k=ragged%2Ffeatured&f=1&lo=1e-320&hi=0",
	} {
		f.Add(query)
	}
	s := given(f, kinds(f, 9))
	f.Fuzz(func(t *testing.T, query string) {
		for _, path := range []string{"/pictures?", "/picture?", "/lines?"} {
			w := get(t, s, path+query)
			require.Contains(t, []int{200, 400, 404, 410}, w.Code, "%s: %s", query, words(w.Body.String()))
			require.Less(t, w.Body.Len(), 120_000)
		}
	})
}
