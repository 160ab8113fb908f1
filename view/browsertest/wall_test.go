package browsertest

import (
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A card is what stands on a card of the wall.
type card struct {
	Name, Kind, Low, High, Foot, Missing string
	Labels, Counts                       []string
	Bars, Tails                          string
}

const readCards = `[...document.querySelectorAll("a.card")].map(c => {
	const one = s => { const x = c.querySelector(s); return x ? x.textContent.trim() : "" };
	const all = s => [...c.querySelectorAll(s)].map(x => x.textContent.trim());
	const d = s => { const x = c.querySelector(s); return x ? x.getAttribute("d") : "" };
	return { name: one(".name"), kind: one(".top small"), low: one(".ends span:first-child"), high: one(".ends span:last-child"),
		foot: one(".end span:first-child"), missing: one(".mark"), labels: all(".values .label"), counts: all(".values .count"),
		bars: d(".bars"), tails: d(".tails") };
})`

// number returns a number of a page.
func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-", " %", "").Replace(s), 64)
	require.NoError(t, err)
	return x
}

// close reports whether a page that writes so many digits may write x as got.
func close(got, x float64, digits int) bool {
	return math.Abs(got-x) <= math.Abs(x)*math.Pow10(1-digits)
}

// TestWallOfVisits compares each card with the fields of the file.
func TestWallOfVisits(t *testing.T) {
	f := pbcseq()
	b := newTab(t, serveVisits(t))
	b.open("")
	require.Equal(t, "visits directory", b.text("h1"))
	require.Equal(t, "1,945", b.text("[data-fact=rows] b"))
	cards := eval[[]card](b, readCards)
	require.Len(t, cards, len(f.head), "masks have no card")
	for i, c := range cards {
		require.Equal(t, f.head[i], c.Name)
		if c.Name == "sex" {
			require.Equal(t, "text", c.Kind)
			require.Equal(t, []string{"f", "m"}, c.Labels)
			require.Equal(t, []string{commas(count(f.column("sex"), "f")), commas(count(f.column("sex"), "m"))}, c.Counts)
			continue
		}
		checkCard(t, f, c)
	}
	b.shot("01-wall-light")
}

func count(fields []string, field string) (n int) {
	for _, x := range fields {
		if x == field {
			n++
		}
	}
	return n
}

// commas writes a count as a page does.
func commas(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return strconv.Itoa(n)
}

// checkCard compares a card of numbers with a column.
func checkCard(t *testing.T, f file, c card) {
	t.Helper()
	numbers, missing := f.numbers(t, c.Name)
	want := ""
	if missing > 0 {
		want = commas(missing) + " missing"
	}
	require.Equal(t, want, c.Missing, c.Name)
	slices.Sort(numbers)
	if len(c.Labels) > 0 {
		different := slices.Compact(slices.Clone(numbers))
		require.Len(t, c.Labels, len(different), c.Name)
		for i, x := range different {
			n := 0
			for _, y := range numbers {
				if x == y {
					n++
				}
			}
			require.Equal(t, x, number(t, c.Labels[i]), c.Name)
			require.Equal(t, commas(n), c.Counts[i], c.Name)
		}
		checkFoot(t, c, numbers)
		return
	}
	require.NotEmpty(t, c.Bars, c.Name)
	require.True(t, close(number(t, c.Low), numbers[0], 4), "%s: got %s, want %v", c.Name, c.Low, numbers[0])
	require.True(t, close(number(t, c.High), numbers[len(numbers)-1], 4), "%s: got %s, want %v", c.Name, c.High, numbers[len(numbers)-1])
	median := number(t, strings.TrimPrefix(c.Foot, "median "))
	below, _ := slices.BinarySearch(numbers, median*0.999)
	above, _ := slices.BinarySearch(numbers, median*1.001)
	n := float64(len(numbers))
	require.True(t, float64(below) <= 0.51*n && float64(above) >= 0.49*n, "%s: median %v is at %d to %d of %v", c.Name, median, below, above, n)
}

// checkFoot compares the line below a list of values with sorted numbers: the share of the last of
// two values, or the mean.
func checkFoot(t *testing.T, c card, numbers []float64) {
	t.Helper()
	sum, last, n := 0.0, 0, float64(len(numbers))
	for _, x := range numbers {
		if sum += x; x == numbers[len(numbers)-1] {
			last++
		}
	}
	want := fmt.Sprintf("%.1f %% are %s", 100*float64(last)/n, c.Labels[len(c.Labels)-1])
	if len(c.Labels) > 2 {
		want = fmt.Sprintf("mean %.3g", sum/n)
	}
	require.Equal(t, want, c.Foot, c.Name)
}

var vertical = regexp.MustCompile(`V([\d.]+)`)

// heights returns the heights of the bars of a path that is 46 units high.
func heights(t *testing.T, d string) (all []float64) {
	t.Helper()
	for _, found := range vertical.FindAllStringSubmatch(d, -1) {
		if h := 46 - number(t, found[1]); h > 0 {
			all = append(all, h)
		}
	}
	return all
}

// A bin is a row of the table of bins.
type bin struct {
	Name   string
	Count  int
	Height float64 // of its bar on the page
	Seen   bool    // whether the bar is drawn so high
}

// readBins returns the bins of the table with the heights of their bars in units, and checks that
// the bar that is seen ends where the bar under the pointer does.
const readBins = `(() => {
	const rows = [...document.querySelectorAll(".read details tbody tr")];
	const bars = [...document.querySelectorAll("svg.large g[tabindex]")].map(g => g.children[1]);
	if (rows.length !== bars.length) throw new Error(rows.length + " rows, " + bars.length + " bars");
	const seen = [...document.querySelectorAll("svg.large .draw")];
	const at = (r, name) => Number(r.getAttribute(name));
	const filled = (x, y) => seen.some(s => s.isPointInFill(new DOMPoint(x, y)));
	return rows.map((row, i) => {
		const x = at(bars[i], "x") + at(bars[i], "width") / 2, y = at(bars[i], "y"), height = at(bars[i], "height");
		return { name: row.cells[0].textContent.trim(), count: Number(row.cells[1].textContent.replace(/,/g, "")), height,
			seen: height > 0 ? filled(x, y + 0.2) && !filled(x, y - 0.2) : !filled(x, y - 0.2) };
	});
})()`

// TestHistogramsOfVisits compares the bins of each leaf with a count of its values, the heights of
// the bars with the counts, and the small histogram of the wall with the large one.
func TestHistogramsOfVisits(t *testing.T) {
	f := pbcseq()
	b := newTab(t, serveVisits(t))
	b.open("")
	for _, c := range eval[[]card](b, readCards) {
		if c.Name == "sex" {
			continue
		}
		b.open("leaf?k=" + url.QueryEscape(c.Name))
		numbers, missing := f.numbers(t, c.Name)
		bins := eval[[]bin](b, readBins)
		sum, most := 0, 0
		for i, bin := range bins {
			require.Equal(t, inBin(t, numbers, bins, i), bin.Count, "%s: %s", c.Name, bin.Name)
			sum, most = sum+bin.Count, max(most, bin.Count)
		}
		require.Equal(t, len(numbers), sum, "%s: bars and tails add up", c.Name)
		require.Equal(t, commas(missing), commas(int(number(t, b.texts(".summary td")[1]))), c.Name)
		checkHeights(t, c, bins, most)
	}
}

// inBin counts the numbers in a bin by its name: "250 to 299", "5", "below 3" or "at least 1,150".
func inBin(t *testing.T, numbers []float64, bins []bin, at int) (n int) {
	t.Helper()
	whole := true
	for _, x := range numbers {
		whole = whole && x == math.Trunc(x)
	}
	for _, x := range numbers {
		from, to, isRange := strings.Cut(bins[at].Name, " to ")
		below, isBelow := strings.CutPrefix(from, "below ")
		above, isAbove := strings.CutPrefix(from, "at least ")
		// The last bar holds its upper edge, if no tail begins there.
		last := at == len(bins)-1 || strings.HasPrefix(bins[at+1].Name, "below ")
		var in bool
		switch {
		case isBelow:
			in = x < number(t, below)
		case isAbove:
			in = x >= number(t, above)
		case !isRange:
			in = x == number(t, from)
		case whole || last:
			in = x >= number(t, from) && x <= number(t, to)
		default:
			in = x >= number(t, from) && x < number(t, to)
		}
		if in {
			n++
		}
	}
	return n
}

// checkHeights checks that bars are as high as their counts say, on the page and on the card.
func checkHeights(t *testing.T, c card, bins []bin, most int) {
	t.Helper()
	highest := 0.0
	for _, bin := range bins {
		highest = max(highest, bin.Height)
	}
	require.Greater(t, highest, 100.0)
	small, tails := heights(t, c.Bars), heights(t, c.Tails)
	for _, bin := range bins {
		share := float64(bin.Count) / float64(most)
		require.InDelta(t, max(share*highest, min(1, float64(bin.Count))), bin.Height, 1.6, "%s: %s", c.Name, bin.Name)
		require.True(t, bin.Seen, "%s: %s is not drawn %v high", c.Name, bin.Name, bin.Height)
		if bin.Count == 0 || c.Bars == "" {
			continue
		}
		of := &small
		if strings.HasPrefix(bin.Name, "below ") || strings.HasPrefix(bin.Name, "at least ") {
			of = &tails
		}
		require.NotEmpty(t, *of, "%s: %s has no bar on the card", c.Name, bin.Name)
		require.InDelta(t, max(share*46, 1), (*of)[0], 2.01, "%s: %s on the card", c.Name, bin.Name)
		*of = (*of)[1:]
	}
	require.Empty(t, small, c.Name)
	require.Empty(t, tails, c.Name)
}
