package browsertest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tdict"
)

// A growing dataset has the first rows of the visits, and a Writer that appends the next.
type growing struct {
	t    *testing.T
	path string
	all  *tdict.TensorDict
	w    *memmap.Writer
	rows int
}

// grow begins a dataset with some rows.
func grow(t *testing.T, name string, rows int) *growing {
	t.Helper()
	g := &growing{t: t, path: filepath.Join(t.TempDir(), name), all: visits(t)}
	row, err := g.all.Index(ix.At(0))
	require.NoError(t, err)
	g.w, err = memmap.NewWriter(g.path, row, memmap.WriterOptions{NoSync: true, Schema: schemaOf(g.all)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = g.w.Close() }) // finished already, or nobody reads it any more
	g.commit(rows)
	return g
}

// commit appends rows and commits them.
func (g *growing) commit(rows int) {
	g.t.Helper()
	part, err := g.all.Index(ix.Range(g.rows, g.rows+rows))
	require.NoError(g.t, err)
	require.NoError(g.t, g.w.Append(part))
	require.NoError(g.t, g.w.Commit())
	g.rows += rows
}

const badge = `document.querySelector("#badge").innerText.trim().replace(/\s+/g, " ")`

// TestCommitAppears checks what a commit changes on the wall, and that nothing else does, nor
// moves.
func TestCommitAppears(t *testing.T) {
	g := grow(t, "visits", 1334)
	b := newTab(t, serve(t, g.path))
	b.open("")
	require.Contains(t, eval[string](b, badge), "growing 1,334 rows")
	require.Contains(t, b.texts("table.rows tbody tr:last-child th"), "1,333")
	cards := eval[[]card](b, readCards)
	b.size(1280, 600)
	eval[bool](b, `scrollTo(0, 120), true`)
	place := `(() => { const r = document.querySelector("a.card[href*='k=chol']").getBoundingClientRect(); return [r.x, r.y, scrollY] })()`
	before := eval[[]float64](b, place)

	g.commit(3)
	b.until(badge + ` === "growing 1,337 rows +3"`)
	require.Equal(t, "1,337", b.text("[data-fact=rows] b"))
	require.Contains(t, b.text(".tabs"), "Rows 1,337")
	require.Contains(t, b.text(".again"), "histograms of 1,334 rows")
	b.until(`document.querySelectorAll("tr.new").length === 3`)
	require.Equal(t, []string{"1,332", "1,333", "1,334", "1,335", "1,336"}, b.texts("table.rows tbody th"))
	require.Equal(t, pbcseq().column("id")[1336], b.texts("table.rows tbody tr:last-child td")[0])
	require.Equal(t, len(b.texts("table.rows thead th")), len(b.texts("table.rows tbody tr:last-child > *")), "a cell for each head")
	require.Equal(t, cards, eval[[]card](b, readCards), "histograms stay")
	require.Equal(t, before, eval[[]float64](b, place), "nothing moves")
	require.Equal(t, "status", eval[string](b, `document.querySelector("#hear").getAttribute("role")`))
	require.Equal(t, "1,337 rows", b.text("#hear"))
	b.size(1280, 900)
	eval[bool](b, `scrollTo(0, 0), true`)
	b.shot("09-growing-light")

	b.click(".again a")
	require.NotEqual(t, cards, eval[[]card](b, readCards), "counted again")
	require.NoError(t, g.w.Finish())
	b.until(badge + `.includes("finished")`)
}

// TestRowsAreAppendedToTheLastPage checks that the last page of rows gets rows, and no other does.
func TestRowsAreAppendedToTheLastPage(t *testing.T) {
	g := grow(t, "visits", 120)
	b := newTab(t, serve(t, g.path))
	b.open("rows?from=100")
	require.Len(t, b.texts("table.rows tbody tr"), 20)
	b.press("jj")
	held := eval[string](b, focused)
	first := b.texts("table.rows tbody tr")
	g.commit(7)
	b.until(`document.querySelectorAll("table.rows tbody tr").length === 27`)
	require.Equal(t, first, b.texts("table.rows tbody tr")[:20])
	require.Equal(t, "126", b.texts("table.rows tbody th")[26])
	require.Equal(t, held, eval[string](b, focused), "the focus stays")

	b.open("rows")
	first = b.texts("table.rows tbody tr")
	b.asked()
	g.commit(2)
	b.until(badge + `.includes("129 rows +2")`)
	require.Equal(t, first, b.texts("table.rows tbody tr"))
	require.Empty(t, b.asked(), "only the last page asks for more rows")
}

// TestReplacementIsOffered checks that a page keeps its numbers until somebody asks for the new
// ones.
func TestReplacementIsOffered(t *testing.T) {
	g := grow(t, "visits", 1334)
	b := newTab(t, serve(t, g.path))
	b.open("")
	require.NoError(t, g.w.Finish())
	b.until(badge + `.includes("finished")`)
	require.NoError(t, memmap.SaveWith(t.Context(), g.path, g.all, memmap.SaveOptions{NoSync: true, Schema: schemaOf(g.all)}))
	b.until(`document.querySelector("#notice [data-new]")`)
	require.Contains(t, b.text("#notice"), "1,945 rows")
	require.Equal(t, "1,334", b.text("[data-fact=rows] b"))

	b.size(436, 234)
	b.shot("11-replaced")
	b.size(1280, 900)

	// Staying: the page, and the pages that it leads to, are of the version before.
	b.touch("#notice .button:nth-of-type(2)")
	b.until(`!document.querySelector("#notice [data-new]")`)
	b.click(`a.card[href*="k=chol"]`)
	missing := count(pbcseq().column("chol")[:1334], "NA")
	require.Contains(t, b.rows(".summary tr"), "missing "+commas(missing))
	require.Contains(t, b.text("#notice"), "Show the new version")

	b.leaves(func() { b.press(".") })
	require.Equal(t, "chol", b.text("h1"))
	require.Contains(t, b.rows(".summary tr"), "missing 821")
	require.Empty(t, b.text("#notice"))
}

func TestEmptyDatasetGetsRows(t *testing.T) {
	g := grow(t, "events", 0)
	b := newTab(t, serve(t, g.path))
	b.open("")
	require.Contains(t, b.text("main"), "No rows yet")
	require.Contains(t, eval[string](b, badge), "growing 0 rows")
	g.commit(5)
	b.until(badge + `.includes("5 rows +5")`)
	b.open("")
	require.Len(t, b.texts("a.card"), 19)
}

// TestFileCutWhileServed checks that a fault in one leaf is an error on its card and on its page,
// and that the others go on.
func TestFileCutWhileServed(t *testing.T) {
	path := save(t, "visits", visits(t))
	b := newTab(t, serve(t, path))
	b.open("?as=list")
	require.NoError(t, os.Truncate(filepath.Join(path, "age.memmap"), 8192))
	b.open("")
	cards := eval[[]card](b, readCards)
	require.Len(t, cards, 19)
	for _, c := range cards {
		require.Equal(t, c.Name == "age", c.Foot == "", c.Name)
	}
	require.Contains(t, b.text(".card .failed"), "fault in mapped memory")
	b.size(836, 350)
	b.see(place{"leaf?k=age", 500})
	require.Equal(t, "age cannot be read", b.text("h1"))
	require.Equal(t, `profiles "age": visits/age.memmap: fault in mapped memory: at byte 8192 of visits/age.memmap`, b.text("main pre"), "no directory around it")
	b.shot("11-error")
	b.click(".todo li:last-child a")
	require.Equal(t, "visits directory", b.text("h1"))
}

// TestSevenTabs opens pages with streams of events in seven tabs of one window: browsers open six
// connections to a server, so the seventh page loads only if hidden tabs hold no stream.
func TestSevenTabs(t *testing.T) {
	g := grow(t, "visits", 100)
	base := serve(t, g.path)
	var tabs []*tab
	for range 7 {
		b := newTab(t, base, chromedp.WithNewWindow(false))
		_, err := chromedp.Call(b.ctx, page.BringToFront, cdp.Empty{})
		require.NoError(t, err)
		b.open("")
		require.Contains(t, eval[string](b, badge), "growing 100 rows")
		tabs = append(tabs, b)
	}
	last := tabs[len(tabs)-1]
	for _, b := range tabs {
		require.Equal(t, b != last, eval[bool](b, "document.hidden"))
	}
	g.commit(1)
	last.until(badge + `.includes("101 rows +1")`)
	last.click(`a.card[href*="k=chol"]`)
	require.Equal(t, "chol", last.text("h1"))
}
