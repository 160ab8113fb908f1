package view_test

import (
	"fmt"
	"html"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// visitsOf returns the values of a column of the visits, cut by patient.
func visitsOf(key nestedkey.Key) (rows [][]float64) {
	floats := func(key nestedkey.Key) (all []float64) {
		x := tensor.Must(tensor.Must(visits().Tensor(key)).Cast(tensor.Float64))
		for value := range tensor.Must(tensor.Elements[float64](x)) {
			all = append(all, value)
		}
		return all
	}
	ids := floats("id")
	for i, value := range floats(key) {
		if i == 0 || ids[i] != ids[i-1] {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], value)
	}
	return rows
}

// patients has a row for each patient, with ragged visits.
var patients = sync.OnceValue(func() *tdict.TensorDict {
	var lengths []int64
	for _, row := range visitsOf("id") {
		lengths = append(lengths, int64(len(row)))
	}
	td := tdict.New(len(lengths))
	for _, key := range []nestedkey.Key{"bili", "day", "age"} {
		if err := td.Set(key, tensor.Must(ragged.FromLengths(tensor.Must(visits().Tensor(key)), lengths))); err != nil {
			panic(err)
		}
	}
	return td
})

var (
	cardItem   = regexp.MustCompile(`(?s)<li[^>]*><a href="([^"]*)"[^>]*><span class="top"><b>([^<]*)</b> <span[^>]*>([^<]*)</span></span>(.*?)</a></li>`)
	chosenPath = regexp.MustCompile(`class="chosen" d="([^"]*)"`)
	strokePath = regexp.MustCompile(`class="stroke" d="([^"]*)"`)
	pointsPath = regexp.MustCompile(`class="points" d="([^"]*)"`)
	behindPath = regexp.MustCompile(`class="behind" d="([^"]*)"`)
	pathPoint  = regexp.MustCompile(`[ML](-?[0-9.]+) (-?[0-9.]+)`)
)

// points returns the coordinates of path data that a pattern finds, nil if it finds none.
func points(body string, of *regexp.Regexp) (all [][2]float64) {
	found := of.FindStringSubmatch(body)
	if found == nil {
		return nil
	}
	for _, m := range pathPoint.FindAllStringSubmatch(found[1], -1) {
		all = append(all, [2]float64{tensor.Must(strconv.ParseFloat(m[1], 64)), tensor.Must(strconv.ParseFloat(m[2], 64))})
	}
	return all
}

// rowWords describes a row as the page does.
func rowWords(row []float64) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, value := range row {
		low, high = min(low, value), max(high, value)
	}
	written := func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
	switch {
	case len(row) == 1:
		return "1 value, " + written(low)
	case low == high:
		return fmt.Sprintf("%d values, all %s", len(row), written(low))
	}
	return fmt.Sprintf("%d values, %s to %s", len(row), written(low), written(high))
}

// TestLines looks for what the page of lines must say.
func TestLines(t *testing.T) {
	s := serve(t, view.Options{}, save(t, patients(), "patients"))
	for _, tt := range []struct{ rule, address, want string }{
		{"the rows", "k=bili&x=day&row=23&from=16", "Lines rows 16 to 35 of 312, all on one scale"},
		{"the chosen row", "k=bili&x=day&row=23&from=16", "Row 23 13 values, 1.9 to 16.8; 47 rows behind it"},
		{"its name at its end", "k=bili&x=day&row=23", "row 23: 16.8"},
		{"the last value is not the largest one", "k=bili&row=300", "row 300: 0.9"},
		{"x does not fit another leaf", "k=bili&of=age&x=bili", "from to Show a row that leaves the scale"},
		{"ticks of both scales", "k=bili&x=day&row=23", "0 10 20 30 0 1,000 2,000 3,000 4,000 5,000"},
		{"the page of the chosen row", "k=bili&row=23", "rows 20 to 39 of 312"},
		{"a row that is not among the first 48", "k=bili&row=300", "Row 300 3 values, 0.8 to 1; 48 rows behind it"},
		{"without a row, the first of the page", "k=bili&from=40", "Row 40"},
		{"a row from the end", "k=bili&row=-1", "Row 311"},
		{"a page from the end", "k=bili&from=-5", "rows 307 to 311 of 312"},
		{"a page beyond the end", "k=bili&from=9223372036854775807", "rows 311 to 311 of 312"},
		{"another scale", "k=bili&lo=0&hi=5", "scale as guessed: 0 to 30"},
		{"the scale of the form, as guessed", "k=bili&of=bili&lo=0&hi=30&x=~", "from to Show a row that leaves the scale"},
		{"the fields of another leaf are guessed anew", "k=bili&of=age&lo=3&hi=4&x=age&f=7", "from to Show a row that leaves the scale"},
		{"the number of a page", "k=bili", "20 a page"},
	} {
		t.Run(tt.rule, func(t *testing.T) { require.Contains(t, words(page(t, s, "/lines?"+tt.address)), tt.want) })
	}
	body := page(t, s, "/lines?k=bili&of=age&lo=3&hi=4&f=7")
	require.Contains(t, body, `name="lo" value="0"`)
	body = page(t, s, "/lines?k=bili&lo=5&hi=-5")
	require.Contains(t, body, `name="lo" value="-5"`, "exchanged")
	require.Contains(t, body, `<option value="~" selected>position</option><option value="day">day</option>`)
	require.NotContains(t, body, `<option value="age" selected>age</option><`)
	require.Less(t, len(body), 30_000)
	for _, card := range cardItem.FindAllStringSubmatch(page(t, s, "/lines?k=bili&row=23"), -1) {
		require.Equal(t, card[2] == "23", strings.Contains(card[0], "aria-current"), "row %s", card[2])
	}
}

// TestLineCards compares the cards of all rows with the data.
func TestLineCards(t *testing.T) {
	s := serve(t, view.Options{}, save(t, patients(), "patients"))
	bili := visitsOf("bili")
	for from := 0; from < 312; from += 100 {
		body := page(t, s, fmt.Sprintf("/lines?k=bili&from=%d", from))
		cards := cardItem.FindAllStringSubmatch(body, -1)
		require.Len(t, cards, min(20, 312-from))
		for i, card := range cards {
			row := bili[from+i]
			require.Equal(t, strconv.Itoa(from+i), card[2])
			require.Equal(t, rowWords(row), card[3], "row %d", from+i)
			above, below := false, false
			for _, value := range row {
				above, below = above || value > 30, below || value < 0
			}
			require.Equal(t, above, strings.Contains(card[4], `class="over" d="M-4 -1`), "row %d leaves the scale", from+i)
			require.Equal(t, below, strings.Contains(card[4], `class="over" d="M-4 55`))
			require.Equal(t, len(row) > 1, strings.Contains(card[4], "stroke"), "a row of one value is a dot")
			require.Len(t, points(card[4], pointsPath), 1)
			require.Contains(t, html.UnescapeString(card[1]), fmt.Sprintf("row=%d", from+i))
		}
	}
}

// TestLineCoordinates compares paths with the data, by the scales that the page says.
func TestLineCoordinates(t *testing.T) {
	s := serve(t, view.Options{}, save(t, patients(), "patients"))
	bili, day := visitsOf("bili"), visitsOf("day")
	wide := 0.0
	for row := range 48 {
		for _, x := range day[row] {
			wide = max(wide, x)
		}
	}
	near := func(want, got [][2]float64, rule string) {
		t.Helper()
		require.Len(t, got, len(want), rule)
		for i := range want {
			require.InDelta(t, want[i][0], got[i][0], 0.06, "%s: x of point %d", rule, i)
			require.InDelta(t, want[i][1], got[i][1], 0.06, "%s: y of point %d", rule, i)
		}
	}
	line := func(row int, at func(i int) float64, w, h float64) (all [][2]float64) {
		for i, y := range bili[row] {
			all = append(all, [2]float64{at(i) * w, h - y/30*h})
		}
		return all
	}
	body := page(t, s, "/lines?k=bili&x=day&row=23&from=16")
	byDay := func(row int) func(i int) float64 { return func(i int) float64 { return day[row][i] / wide } }
	near(line(23, byDay(23), 1122, 208), points(body, chosenPath), "the chosen row")
	near(line(23, byDay(23), 1122, 208), points(body, pointsPath), "its points")
	for _, card := range cardItem.FindAllStringSubmatch(body, -1) {
		row := tensor.Must(strconv.Atoi(card[2]))
		if row == 16 || row == 18 || row == 23 {
			near(line(row, byDay(row), 220, 54), points(card[4], strokePath), "card "+card[2])
		}
	}
	var behind [][2]float64
	for row := range 3 {
		behind = append(behind, line(row, byDay(row), 1122, 208)...)
	}
	near(behind, points(body, behindPath)[:len(behind)], "the rows behind")

	longest := 0
	for row := range 48 {
		longest = max(longest, len(bili[row]))
	}
	body = page(t, s, "/lines?k=bili&row=23&from=16")
	near(line(23, func(i int) float64 { return float64(i) / float64(longest-1) }, 1122, 208), points(body, chosenPath), "over positions")
}

// TestLineWords has a row for each of several rows that look alike.
func TestLineWords(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	rows := []struct {
		rule   string
		values []float64
		hidden []int // positions that the mask hides
		want   string
	}{
		{"empty", nil, nil, "no values"},
		{"one value", []float64{3}, nil, "1 value, 3"},
		{"only NaN", []float64{nan, nan}, nil, "2 values, all NaN"},
		{"all equal", []float64{2, 2, 2}, nil, "3 values, all 2"},
		{"one value beside NaN", []float64{nan, 4, nan}, nil, "3 values, all 4, 2 NaN"},
		{"some NaN", []float64{1, nan, 2.5}, nil, "3 values, 1 to 2.5, 1 NaN"},
		{"infinite", []float64{-inf, 1, inf}, nil, "3 values, −Inf to +Inf"},
		{"some missing", []float64{9, 1, 2}, []int{0}, "3 values, 1 to 2, 1 missing"},
		{"all missing", []float64{9, 8}, []int{0, 1}, "2 values, all missing"},
		{"missing and NaN", []float64{9, nan}, []int{0}, "2 values, 1 NaN, 1 missing"},
		{"large", []float64{1234567, -0.00001234567}, nil, "2 values, −0.00001235 to 1,234,567"},
	}
	var values []float64
	var lengths []int64
	var present []bool
	for _, row := range rows {
		lengths = append(lengths, int64(len(row.values)))
		values = append(values, row.values...)
		at := len(present)
		for range row.values {
			present = append(present, true)
		}
		for _, i := range row.hidden {
			present[at+i] = false
		}
	}
	td := tdict.New(len(rows))
	put(t, td, "x", tensor.Must(ragged.FromLengths(tensor.Vector(values...), lengths)))
	put(t, td, "x_mask", tensor.Must(ragged.FromLengths(tensor.Vector(present...), lengths)))
	cards := cardItem.FindAllStringSubmatch(page(t, given(t, td), "/lines?k=x"), -1)
	require.Len(t, cards, len(rows))
	for i, row := range rows {
		require.Equal(t, row.want, html.UnescapeString(cards[i][3]), row.rule)
	}
}

// TestLineMasks hides rows and values of dense leaves, and of the leaf of x.
func TestLineMasks(t *testing.T) {
	td := dense(t, func(i int) float64 { return float64(i % 9) }, 3, 9)
	present := tensor.Must(tensor.Full(true, 3, 9))
	require.NoError(t, present.SetIndex(tensor.Scalar(false), ix.At(1)))
	put(t, td, "x_mask", present)
	steps := tensor.Must(tensor.New(tensor.Int64, 3, 9))
	put(t, td, "time", steps)
	whole := tensor.Must(tensor.Full(true, 3, 9))
	require.NoError(t, whole.SetIndex(tensor.Scalar(false), ix.At(2), ix.Range(4, 6)))
	put(t, td, "time_mask", whole)
	s := given(t, td)
	body := page(t, s, "/lines?k=x&row=1")
	require.Contains(t, words(body), "Row 1 9 values, all missing; 2 rows behind it")
	cards := cardItem.FindAllStringSubmatch(body, -1)
	require.Equal(t, "9 values, all missing", cards[1][3])
	require.NotContains(t, cards[1][4], "stroke")
	require.Equal(t, 1, strings.Count(behindPath.FindString(page(t, s, "/lines?k=x&row=0")), "M"), "row 2 in one piece")
	body = page(t, s, "/lines?k=x&x=time&row=2")
	require.Equal(t, 2, strings.Count(chosenPath.FindString(body), "M"), "x is missing in the middle")
	body = page(t, s, "/lines?k=time")
	require.Equal(t, "9 values, all 0, 2 missing", cardItem.FindAllStringSubmatch(body, -1)[2][3])
}

// TestLineFeatures draws one column of [T F], and ragged rows with features.
func TestLineFeatures(t *testing.T) {
	td := dense(t, func(i int) float64 { return float64(i) }, 2, 8, 3)
	put(t, td, "pairs", tensor.Must(ragged.FromLengths(tensor.Must(tensor.From([]int32{0, 10, 1, 11, 2, 12, 3, 13}, 4, 2)), []int64{1, 3})))
	mask := tensor.Must(tensor.Full(true, 2, 8, 3))
	require.NoError(t, mask.SetIndex(tensor.Scalar(false), ix.At(1), ix.At(7), ix.At(2)))
	put(t, td, "x_mask", mask)
	s := given(t, td)
	for address, want := range map[string]string{
		"k=x":               "8 values, 24 to 45",
		"k=x&f=1":           "8 values, 25 to 46",
		"k=x&f=2":           "8 values, 26 to 44, 1 missing",
		"k=x&f=7&of=pairs":  "8 values, 24 to 45",
		"k=pairs&f=1":       "3 values, 11 to 13",
		"escaped=pairs&f=0": "3 values, 1 to 3",
	} {
		body := page(t, s, "/lines?"+address)
		require.Equal(t, want, cardItem.FindAllStringSubmatch(body, -1)[1][3], address)
		require.Contains(t, body, `<select name="f">`)
	}
	batches := tdict.New(3, 10)
	put(t, batches, "reward", tensor.Must(tensor.Full(1.5, 3, 10)))
	require.Equal(t, "10 values, all 1.5", cardItem.FindStringSubmatch(page(t, given(t, batches), "/lines"))[3], "a row is a position of the first batch dim")
}

// TestLineRefusals has a row for each address that is refused.
func TestLineRefusals(t *testing.T) {
	td := dense(t, func(i int) float64 { return float64(i) }, 4, 8, 2)
	put(t, td, "long", tensor.Must(tensor.New(tensor.Int64, 4, 9)))
	put(t, td, "complex", tensor.Must(tensor.New(tensor.Complex64, 4, 8)))
	put(t, td, "text", tensor.Must(ragged.FromStrings(make([]string, 4))))
	put(t, td, "rows", tensor.Must(ragged.From[float32]([][]float32{{1}, {2, 3}, {}, {4}})))
	put(t, td, "others", tensor.Must(ragged.From[float32]([][]float32{{1}, {2}, {3}, {4}})))
	s := given(t, td)
	for _, tt := range []struct {
		rule, address string
		code          int
		want          string
	}{
		{"no such key", "k=nothing", 404, "nothing is no key of given"},
		{"text", "k=text", 400, "cannot be shown as lines"},
		{"complex numbers", "k=complex", 400, "Lines are numbers, not complex, with [T] or [T F]"},
		{"no such feature", "k=x&f=2", 400, "f: got 2, want one of 2"},
		{"a negative feature", "k=x&f=-1", 400, "There is no such feature"},
		{"a feature of a leaf without features", "k=long&f=1", 400, "There is no such feature"},
		{"no such x", "k=x&x=nothing", 400, "This leaf is no x"},
		{"an x of another length", "k=x&x=long", 400, "This leaf is no x"},
		{"an x with other rows", "k=rows&x=others", 400, "This leaf is no x"},
		{"x is y", "k=rows&x=rows", 400, "This leaf is no x"},
		{"an x that cannot be read", "k=x&x=%25zz", 400, "This leaf is no x"},
		{"NaN", "k=x&lo=NaN", 400, "want a finite number"},
		{"too large", "k=x&hi=1e999", 400, "want a finite number"},
		{"no such row", "k=x&row=4", 404, "There is no such row"},
		{"no such row from the end", "k=x&row=-5", 404, "There is no such row"},
		{"a page that is no number", "k=x&from=one", 400, "want a whole number"},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			w := get(t, s, "/lines?"+tt.address)
			require.Equal(t, tt.code, w.Code)
			require.Contains(t, words(w.Body.String()), tt.want)
		})
	}
	for _, address := range []string{"k=x&lo=1e308&hi=-1e308", "k=x&lo=5&hi=5", "k=x&lo=1e-320&hi=2e-320", "unknown=1&k=long&k=x", "k=x&from=&row=&lo=&hi="} {
		require.Equal(t, http.StatusOK, get(t, s, "/lines?"+address).Code, address)
	}
	require.Equal(t, http.StatusNotFound, get(t, given(t, tdict.New(3)), "/lines").Code, "a dataset without lines")
	empty := tdict.New(0)
	put(t, empty, "x", tensor.Must(tensor.New(tensor.Float32, 0, 9)))
	require.Contains(t, words(page(t, given(t, empty), "/lines?k=x")), "No lines yet: the shape is [0 9]")
}

// TestLongLines checks that a row of a million values keeps its extremes, and that pages are small.
func TestLongLines(t *testing.T) {
	const n = 1_000_000
	td := tdict.New(2)
	values := make([]float32, 2*n)
	for i := range values {
		values[i] = float32(math.Sin(float64(i) / 1000))
	}
	values[123_456], values[n+765_432], values[n+123_456] = 5, -5, 5
	put(t, td, "x", tensor.Must(tensor.From(values, 2, n)))
	s := given(t, td)
	body := page(t, s, "/lines?k=x&lo=-5&hi=5")
	require.Less(t, len(body), 120_000)
	require.Contains(t, words(body), "Row 0 1,000,000 values, −1 to 5; 1 row behind it")
	extremes := func(points [][2]float64) (top, bottom [2]float64) {
		top, bottom = points[0], points[0]
		for _, p := range points {
			if p[1] < top[1] {
				top = p
			}
			if p[1] > bottom[1] {
				bottom = p
			}
		}
		return top, bottom
	}
	cards := cardItem.FindAllStringSubmatch(body, -1)
	for _, tt := range []struct {
		rule       string
		points     [][2]float64
		wide, high float64
		at         float64 // of the extreme value
		up         bool
		least      int // points
	}{
		{"the chosen row", points(body, chosenPath), 1122, 208, 0.123456, true, 2000},
		{"its card", points(cards[0][4], strokePath), 220, 54, 0.123456, true, 80},
		{"the card of the other row", points(cards[1][4], strokePath), 220, 54, 0.765432, false, 80},
		{"its largest value", points(cards[1][4], strokePath), 220, 54, 0.123456, true, 80},
		{"the row behind", points(body, behindPath), 1122, 208, 0.765432, false, 1000},
	} {
		top, bottom := extremes(tt.points)
		got, want := top, 0.0
		if !tt.up {
			got, want = bottom, tt.high
		}
		require.InDelta(t, want, got[1], 0.06, tt.rule)
		require.InDelta(t, tt.at*tt.wide, got[0], 1, tt.rule)
		require.Greater(t, len(tt.points), tt.least, tt.rule)
	}

	noisy := dense(t, func(i int) float64 { return float64(i%2*2 - 1) }, 50, 3000)
	for _, scale := range []string{"", "&lo=-0.3&hi=0.3", "&lo=-123.456&hi=1"} {
		body := page(t, given(t, noisy), "/lines?k=x"+scale)
		require.Less(t, len(body), 120_000, "of rows that leave the scale at each value: %s", scale)
		require.Less(t, len(chosenPath.FindString(body)), 27_000)
		require.Less(t, len(behindPath.FindString(body)), 27_000)
	}
	sparse := dense(t, func(i int) float64 { return []float64{float64(i % 7), math.NaN()}[i%2] }, 50, 1999)
	require.Less(t, len(page(t, given(t, sparse), "/lines?k=x")), 120_000, "of values without neighbours")
}

// TestLinesCut cuts the file of a leaf while it is served, and appends rows to a growing dataset.
func TestLinesCut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a mapped file cannot be cut")
	}
	td := dense(t, func(i int) float64 { return float64(i) }, 8, 2048)
	put(t, td, "time", tensor.Must(tensor.New(tensor.Float64, 8, 2048)))
	path := save(t, td, "cut")
	s := serve(t, view.Options{}, path)
	require.NotContains(t, page(t, s, "/lines?k=x&x=time"), "failed")
	require.NoError(t, os.Truncate(filepath.Join(path, "time.memmap"), 65536))
	body := words(page(t, s, "/lines?k=x&x=time"))
	require.Contains(t, body, "fault in mapped memory: at byte")
	require.Contains(t, body, "2,048 values, 2,048 to 4,095", "a row before the cut")
	require.NotContains(t, body, filepath.Dir(path), "it shows no path of the machine")
}

// TestLinesGrow appends rows while the page is looked at.
func TestLinesGrow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	batch := dense(t, func(i int) float64 { return float64(i) }, 3, 8)
	w := tensor.Must(memmap.NewWriter(path, tensor.Must(batch.Index(ix.At(0))), memmap.WriterOptions{}))
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	require.NoError(t, w.Append(batch))
	require.NoError(t, w.Commit())
	s := serve(t, view.Options{}, path)
	require.Contains(t, words(page(t, s, "/lines")), "rows 0 to 2 of 3")
	require.NoError(t, w.Append(batch))
	require.NoError(t, w.Commit())
	require.Eventually(t, func() bool {
		return strings.Contains(words(page(t, s, "/lines")), "rows 0 to 5 of 6")
	}, time.Minute, 10*time.Millisecond)
}
