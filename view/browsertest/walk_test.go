package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// show writes an expression into the index box and shows it.
func show(b *tab, expr string) {
	b.t.Helper()
	eval[bool](b, `document.querySelector("input[name=index]").select(), true`)
	b.press(expr)
	b.click(".index button")
}

// TestWalk goes from the wall to a leaf, a row, the next row, with the mouse only.
func TestWalk(t *testing.T) {
	f := pbcseq()
	chol := f.column("chol")
	b := newTab(t, serveVisits(t))
	b.open("")
	b.click(`a.card[href*="k=chol"]`)
	require.Equal(t, "chol", b.text("h1"))
	require.Contains(t, b.text("main .facts"), "mask chol_mask")

	show(b, "[0, 1, 2, -2, -1]")
	require.Equal(t, []string{"0", "1", "2", "1,943", "1,944"}, b.texts(".index th"))
	require.Equal(t, []string{shown(chol[0]), shown(chol[1]), shown(chol[2]), shown(chol[1943]), shown(chol[1944])}, b.texts(".index td"))
	require.Equal(t, "[0, 1, 2, -2, -1]", eval[string](b, `document.querySelector("input[name=index]").value`))
	eval[bool](b, `document.querySelector("input[name=index]").focus(), document.querySelector("svg.large g:nth-of-type(5)").classList.add("shot"), true`)
	b.shot("03-leaf-numbers-light")

	show(b, "0, 5:x")
	require.Equal(t, "5:x", strings.TrimSpace(b.text(".index .failed u")))
	require.Contains(t, b.text(".index .failed"), "5:x")
	require.Empty(t, b.texts(".index td"))

	require.Equal(t, shown(chol[4]), b.texts("table.rows tbody tr:nth-child(5) td")[0])
	b.click(`table.rows tbody tr:nth-child(5) a`)
	checkRow(t, b, 4)
	b.click("[data-row-next]")
	checkRow(t, b, 5)
	b.click("[data-row-prev]")
	checkRow(t, b, 4)
	b.click("[data-close]")
	require.Empty(t, b.texts(".pane"))
	b.click(`table.rows tbody tr:nth-child(8) td:nth-child(3)`)
	checkRow(t, b, 7)
}

// shown returns a field as a page writes it.
func shown(field string) string {
	if field == "NA" {
		return "missing"
	}
	return field
}

// checkRow checks that the page shows a row of the file in full, and has chosen it in the table.
func checkRow(t *testing.T, b *tab, row int) {
	t.Helper()
	f := pbcseq()
	require.Equal(t, fmt.Sprintf("Row %d of 1,945", row), b.text(".pane h2"))
	require.Equal(t, []string{fmt.Sprint(row)}, b.texts("tr.now .rownum"))
	require.Equal(t, f.head, b.texts(".pane dt a"))
	for i, value := range b.texts(".pane dd") {
		field := f.records[row][i]
		if want := shown(field); want == "missing" || f.head[i] == "sex" {
			require.Equal(t, want, value)
		} else {
			require.Equal(t, number(t, field), number(t, value), f.head[i])
		}
	}
}

// TestSearchListAndTree finds leaves by a word, in the list and in the tree.
func TestSearchListAndTree(t *testing.T) {
	b := newTab(t, serveVisits(t))
	b.open("")
	b.touch(".search [type=search]")
	b.press("AL")
	b.leaves(func() { b.press(kb.Enter) })
	require.Equal(t, []string{"al", "al"}, b.texts("main mark"))
	require.Equal(t, []string{"albumin", "alk.phos"}, b.texts("main [data-item]")[:2])
	require.Equal(t, "AL", eval[string](b, `document.querySelector(".search [type=search]").value`))
	b.click("main [data-item]")
	require.Equal(t, "albumin", b.text("h1"))
	require.Equal(t, "albumin", b.text(".tree [aria-current=page] > span"))

	b.click(".tree li:nth-child(2) a")
	require.Equal(t, "futime", b.text("h1"))
	b.click(".crumbs a")
	b.click(".pick a:nth-child(2)")
	require.Equal(t, "id", b.texts("table.list tbody th")[0])
	require.Equal(t, "List", b.text(".pick [aria-current]"))
	at := 0
	for i, head := range b.texts("table.list thead th") {
		if head == "missing" {
			at = i
		}
	}
	for i, name := range pbcseq().head {
		_, missing := pbcseq().numbersOrNone(t, name)
		got := b.texts(fmt.Sprintf("table.list tbody tr:nth-child(%d) > *", i+1))
		want := ""
		if missing > 0 {
			want = commas(missing)
		}
		require.Equal(t, name, got[0])
		require.Equal(t, want, got[at], name)
	}
	b.click("table.list tbody tr:nth-child(3) td:nth-child(3)")
	require.Equal(t, "status", b.text("h1"))

	b.open("search?q=xyzzy")
	require.Contains(t, b.text("main h1"), "xyzzy")
	require.Empty(t, b.texts("main [data-item]"))
}

// focused returns the address of the link that has the focus, or the name of the element.
const focused = `(document.activeElement.getAttribute("href") || document.activeElement.name || document.activeElement.tagName)`

func TestKeys(t *testing.T) {
	b := newTab(t, serveVisits(t))
	b.open("")
	card := func(i int) string {
		return eval[string](b, fmt.Sprintf(`document.querySelectorAll("a.card")[%d].getAttribute("href")`, i))
	}
	b.press("j")
	require.Equal(t, card(0), eval[string](b, focused))
	b.press("jj")
	require.Equal(t, card(2), eval[string](b, focused))
	b.press("k")
	require.Equal(t, card(1), eval[string](b, focused))
	for _, modifier := range []chromedp.Modifier{chromedp.ModifierCtrl, chromedp.ModifierAlt, chromedp.ModifierMeta} {
		b.press("j", chromedp.KeyModifiers(modifier))
		require.Equal(t, card(1), eval[string](b, focused), "with a modifier")
	}
	b.leaves(func() { b.press(kb.Enter) })
	require.Equal(t, "futime", b.text("h1"))
	b.leaves(func() { b.press("u") })
	require.Equal(t, "visits directory", b.text("h1"))

	b.press("/")
	require.Equal(t, "q", eval[string](b, focused))
	b.press("j2?")
	require.Equal(t, "j2?", eval[string](b, `document.activeElement.value`), "keys in a field are text")
	b.press(kb.Escape)
	require.Equal(t, "BODY", eval[string](b, focused))

	b.leaves(func() { b.press("2") })
	require.Contains(t, b.text("h1"), "0 to 49 of 1,945")
	b.leaves(func() { b.press("]") })
	require.Contains(t, b.text("h1"), "50 to 99 of 1,945")
	b.leaves(func() { b.press("[") })
	require.Contains(t, b.text("h1"), "0 to 49 of 1,945")
	b.press("jjj")
	b.leaves(func() { b.press(kb.Enter) })
	checkRow(t, b, 2)
	b.leaves(func() { b.press("]") })
	checkRow(t, b, 3)
	b.leaves(func() { b.press("[") })
	checkRow(t, b, 2)
	b.leaves(func() { b.press(kb.Escape) })
	require.Empty(t, b.texts(".pane"))
	b.leaves(func() { b.press("1") })
	require.Equal(t, "visits directory", b.text("h1"))
}

func TestKeysOfPictures(t *testing.T) {
	b := newTab(t, serve(t, save(t, "digits", digits(t))))
	b.open("")
	b.leaves(func() { b.press("3") })
	require.Equal(t, "Pictures", b.text(".tabs [aria-current]"))
	b.press("jj")
	b.leaves(func() { b.press(kb.Enter) })
	require.Contains(t, b.text(".pane h2"), "Row 1 ")
}

// TestKeysSwitchedOff checks that the switch is kept, and that the list of keys still opens.
func TestKeysSwitchedOff(t *testing.T) {
	b := newTab(t, serveVisits(t))
	b.open("")
	list := func() {
		b.press("?")
		b.until(`document.querySelector("dialog[open]")`)
	}
	list()
	require.Len(t, b.texts("dialog[open] tr"), 9)
	b.touch("dialog [data-keys-off]")
	require.Equal(t, "Switch keys on", b.text("dialog [data-keys-off]"))
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog[open]")`)
	b.open("rows")
	b.press("j")
	require.Equal(t, "BODY", eval[string](b, focused), "keys are off")
	list()
	b.touch("dialog [data-keys-off]")
	b.press(kb.Escape)
	b.until(`!document.querySelector("dialog[open]")`)
	b.press("j")
	require.NotEqual(t, "BODY", eval[string](b, focused), "keys are on")
}
