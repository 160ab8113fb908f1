package browsertest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// readPixels returns the red of each pixel of the picture i of a page, drawn on a canvas.
const readPixels = `(async i => {
	const img = document.querySelectorAll("main img")[i];
	img.loading = "eager";
	await img.decode();
	const canvas = document.createElement("canvas");
	canvas.width = img.naturalWidth; canvas.height = img.naturalHeight;
	const g = canvas.getContext("2d");
	g.drawImage(img, 0, 0);
	return [img.naturalWidth, img.naturalHeight, ...[...g.getImageData(0, 0, img.naturalWidth, img.naturalHeight).data].filter((_, at) => (at & 3) === 0)];
})(%d)`

// checkPicture compares a picture with the row of the file: 0 to 16 is black to white.
func checkPicture(t *testing.T, b *tab, at, row int) {
	t.Helper()
	got := eval[[]int](b, fmt.Sprintf(readPixels, at), awaited)
	require.Equal(t, []int{8, 8}, got[:2], "row %d", row)
	for i, field := range digitsFile().records[row][:64] {
		x, err := strconv.Atoi(field)
		require.NoError(t, err)
		require.InDelta(t, float64(x)*255/16, float64(got[2+i]), 0.51, "row %d, pixel %d", row, i)
	}
}

func TestPicturesOfDigits(t *testing.T) {
	b := newTab(t, serve(t, save(t, "digits", digits(t))))
	b.media("prefers-color-scheme", "dark")
	b.open("pictures?k=image")
	labels, rows := b.texts(".under b"), b.texts(".under small")
	require.Len(t, labels, 96)
	for row := range 96 {
		require.Equal(t, strconv.Itoa(row), rows[row])
		require.Equal(t, digitsFile().records[row][64], labels[row], "row %d", row)
	}
	for _, row := range []int{0, 13, 37, 95} {
		checkPicture(t, b, row, row)
		require.Equal(t, fmt.Sprintf("row %d, label %s", row, labels[row]),
			eval[string](b, fmt.Sprintf(`document.querySelectorAll("main img")[%d].alt`, row)))
	}
	require.Equal(t, "pixelated", eval[string](b, `getComputedStyle(document.querySelector("main img")).imageRendering`))
	b.press("jjj")
	b.shot("07-pictures-dark")

	wide := func() float64 {
		return eval[float64](b, `document.querySelector("main .pictures img").getBoundingClientRect().width`)
	}
	require.Equal(t, 92.0, wide())
	for size, want := range map[string]float64{"S": 64, "L": 160} {
		b.click(fmt.Sprintf(`.pick a[href*="size=%s"], .pick a[href*="size=%s"]`, size, string(size[0]+32)))
		require.Equal(t, want, wide(), size)
	}
	b.click("[rel=next]")
	require.Equal(t, "96", b.texts(".under small")[0])
	checkPicture(t, b, 1, 97)
}

// TestFieldsOfPictures shows black as white.
func TestFieldsOfPictures(t *testing.T) {
	b := newTab(t, serve(t, save(t, "digits", digits(t))))
	b.open("pictures?k=image&black=16&white=0")
	got := eval[[]int](b, fmt.Sprintf(readPixels, 0), awaited)
	first, err := strconv.Atoi(digitsFile().records[0][2])
	require.NoError(t, err)
	require.InDelta(t, 255-float64(first)*255/16, float64(got[2+2]), 0.51)
	require.Equal(t, "16", eval[string](b, `document.querySelector("input[name=black]").value`))
}

func TestLeafOfPictures(t *testing.T) {
	b := newTab(t, serve(t, save(t, "digits", digits(t))))
	b.media("prefers-color-scheme", "dark")
	b.open("leaf?k=image&index=0,+2:5")
	require.Equal(t, "image", b.text("h1"))
	require.Len(t, b.texts(".pictures li"), 14)
	checkPicture(t, b, 13, 13)
	zeros := 0
	for _, record := range digitsFile().records {
		zeros += count(record[:64], "0")
	}
	require.Contains(t, b.rows(".summary tr"), "zeros "+commas(zeros))
	require.Equal(t, digitsFile().records[0][16:40], b.texts(".index .grid td"))
	b.shot("05-leaf-image-dark")
}
