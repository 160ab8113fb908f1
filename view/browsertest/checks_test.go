package browsertest

import (
	"math"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// library has what the checks below use in a page.
const library = `(() => {
	const visible = x => { const r = x.getBoundingClientRect(); const s = getComputedStyle(x);
		return r.width > 0 && r.height > 0 && s.visibility === "visible" && !x.closest(".hear, .skip, noscript") && x.checkVisibility({ opacityProperty: true }); };
	const say = x => x.tagName.toLowerCase() + (typeof x.className === "string" && x.className ? "." + x.className.split(" ").join(".") : "") + " " + JSON.stringify(x.textContent.trim().slice(0, 30));
	const solid = c => !/^rgba\(.*, 0\)$|^transparent$/.test(c);
	// ground returns the background that an element stands on.
	const ground = x => { for (let at = x; at; at = at.parentElement) { const c = getComputedStyle(at).backgroundColor; if (!(at instanceof SVGElement) && solid(c)) return c; } return "rgb(255, 255, 255)"; };
	window.lib = { visible, say, ground };
	return true;
})()`

// texts on their backgrounds: each pair of colours once.
const readTexts = `(() => {
	const found = new Map();
	const add = (ink, on, x, what) => { const key = ink + on; if (!found.has(key)) found.set(key, { ink, on, at: lib.say(x) + what }); };
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const x = n.parentElement;
		if (!n.data.trim() || !lib.visible(x)) continue;
		const s = getComputedStyle(x);
		add(x instanceof SVGElement ? s.fill : s.color, lib.ground(x), x, "");
	}
	for (const x of document.querySelectorAll("input, select")) {
		if (!lib.visible(x)) continue;
		add(getComputedStyle(x).color, lib.ground(x), x, " value of " + x.name);
		if (x.placeholder) add(getComputedStyle(x, "::placeholder").color, lib.ground(x), x, " placeholder");
	}
	return [...found.values()];
})()`

// bars, hatching, and borders of fields and buttons that act.
const readShapes = `(() => {
	const found = new Map();
	const add = (ink, on, x) => { const key = ink + on; if (!found.has(key)) found.set(key, { ink, on, at: lib.say(x) + " " + (x.getAttribute("class") || "") }); };
	const hatch = document.querySelector("pattern rect");
	for (const x of document.querySelectorAll(".bars, .tails, .draw, .values rect, td svg rect, .strip .lack, .presence rect, .stroke, .chosen")) {
		const s = getComputedStyle(x);
		const ink = s.fill.startsWith("url") ? getComputedStyle(hatch).fill : s.fill === "none" ? s.stroke : s.fill;
		add(ink, lib.ground(x), x);
	}
	for (const x of document.querySelectorAll("input:not([type=hidden]), select, button, .button:not([aria-disabled]), .box, .pick")) {
		const s = getComputedStyle(x);
		if (lib.visible(x) && parseFloat(s.borderTopWidth) > 0) add(s.borderTopColor, lib.ground(x.parentElement), x);
	}
	return [...found.values()];
})()`

// A pair is a colour on another.
type pair struct{ Ink, On, At string }

var rgb = regexp.MustCompile(`^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$`)

// luminance returns the relative luminance of a colour, as WCAG 2 defines it. A translucent colour
// is mixed with the one that it lies on.
func luminance(t *testing.T, colour, on string) (l float64) {
	t.Helper()
	m := rgb.FindStringSubmatch(colour)
	require.NotNil(t, m, "%q is no colour", colour)
	below := rgb.FindStringSubmatch(on)
	require.NotNil(t, below, "%q is no colour", on)
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := number(t, m[1+i])
		if m[4] != "" {
			alpha := number(t, m[4])
			c = alpha*c + (1-alpha)*number(t, below[1+i])
		}
		if c /= 255; c <= 0.04045 {
			l += weight * c / 12.92
		} else {
			l += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return l
}

// contrast returns the contrast of two colours, from 1 to 21.
func contrast(t *testing.T, ink, on string) float64 {
	t.Helper()
	a, b := luminance(t, ink, on), luminance(t, on, on)
	return (max(a, b) + 0.05) / (min(a, b) + 0.05)
}

func TestContrast(t *testing.T) {
	require.InDelta(t, 21, contrast(t, "rgb(0, 0, 0)", "rgb(255, 255, 255)"), 1e-9)
	require.InDelta(t, 4.54, contrast(t, "rgb(118, 118, 118)", "rgb(255, 255, 255)"), 0.005)
	require.InDelta(t, 1, contrast(t, "rgba(0, 0, 0, 0)", "rgb(9, 99, 199)"), 1e-9)
}

// checkColours checks the contrasts of a page.
func (b *tab) checkColours(where string) {
	b.t.Helper()
	for _, p := range eval[[]pair](b, readTexts) {
		if c := contrast(b.t, p.Ink, p.On); c < 4.6 {
			b.t.Errorf("%s: %s: text %s on %s: contrast %.2f, want 4.6", where, p.At, p.Ink, p.On, c)
		}
	}
	for _, p := range eval[[]pair](b, readShapes) {
		if c := contrast(b.t, p.Ink, p.On); c < 3 {
			b.t.Errorf("%s: %s: shape %s on %s: contrast %.2f, want 3", where, p.At, p.Ink, p.On, c)
		}
	}
}

// What is wider than the window, and what is too low to be touched. Links within a sentence may be
// as low as its line.
const readNarrow = `(() => {
	const bad = [];
	const root = document.documentElement;
	if (root.scrollWidth > innerWidth) {
		const wide = [...document.querySelectorAll("body *")].filter(x => x.getBoundingClientRect().right > innerWidth + 1 && lib.visible(x) && !x.closest(".scroll, .tabs, svg"));
		bad.push("the page is " + root.scrollWidth + " wide: " + wide.slice(0, 3).map(lib.say).join(", "));
	}
	const low = new Set();
	for (const x of document.querySelectorAll("a, button, input:not([type=hidden]), select, summary")) {
		if (!lib.visible(x)) continue;
		const table = x.closest("table");
		const inline = getComputedStyle(x).display === "inline";
		const cell = table && x.closest("td, th");
		const h = cell && cell.closest("tr[data-row]") ? cell.getBoundingClientRect().height : inline && x.tagName === "A" ? Infinity : x.getBoundingClientRect().height;
		const want = table || x.tagName === "SUMMARY" ? 24 : 36;
		if (h < want - 0.5) low.add(lib.say(x).replace(/ ".*/, "") + " is " + Math.round(h) + " high, want " + want);
	}
	bad.push(...low);
	const small = new Map();
	for (const x of document.querySelectorAll("svg text")) {
		if (!lib.visible(x)) continue;
		const size = parseFloat(getComputedStyle(x).fontSize) * x.getScreenCTM().a;
		if (size < 9.95) small.set(x.getAttribute("class"), "SVG text " + lib.say(x) + " of " + size.toFixed(1) + " px, want 10");
	}
	bad.push(...small.values());
	return bad;
})()`

// Landmarks, headings, tables, pictures, names of fields.
const readAccess = `(() => {
	const bad = [];
	const all = s => [...document.querySelectorAll(s)];
	for (const s of ["header", "main", "h1", "header nav", "form[role=search]"]) {
		const n = all(s).length;
		if (n !== 1 && !(n === 0 && (s === "form[role=search]" || s === "header nav"))) bad.push(n + " of " + s);
	}
	for (const x of all("nav, aside")) if (!x.getAttribute("aria-label") && x.getAttribute("role") !== "note") bad.push("no name: " + lib.say(x));
	for (const x of all("th")) if (!x.getAttribute("scope")) bad.push("th without scope: " + lib.say(x));
	for (const x of all("main table")) if (!x.querySelector("th") && !x.matches(".grid")) bad.push("table without th: " + lib.say(x));
	for (const x of all("main img")) if (!x.hasAttribute("alt") || (x.alt === "" && !x.closest(".card"))) bad.push("img without alt: " + x.src);
	for (const x of all("svg")) if (!x.closest("[aria-hidden=true]") && !x.closest("[role=img][aria-label]")) bad.push("svg that is neither hidden nor named");
	for (const x of all("input:not([type=hidden]), select")) if (!(x.labels && x.labels.length) && !x.getAttribute("aria-label")) bad.push("field without a name: " + x.name);
	for (const x of all("a, button")) if (!x.textContent.trim() && !x.getAttribute("aria-label")) bad.push("no text: " + x.outerHTML.slice(0, 80));
	const ids = all("[id]").map(x => x.id);
	for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) bad.push("id twice: " + id);
	let last = 0;
	for (const h of all("main h1, main h2, main h3")) { const n = Number(h.tagName[1]); if (n > last + 1) bad.push(h.tagName + " after H" + last); last = n; }
	if (document.documentElement.lang !== "en") bad.push("no language");
	if (!document.title) bad.push("no title");
	if (all(".tabs [aria-current]").length > 1) bad.push("several current tabs");
	if (all(".tree [aria-current]").length > 1) bad.push("several current rows of the tree");
	if (all("[role=status]").length !== 1) bad.push("no status");
	return [...new Set(bad)].slice(0, 6);
})()`

// TestEveryPage checks each page: its landmarks and names, contrast in light and dark, and at 390
// and 320 pixels that nothing scrolls sideways, targets can be touched and text in drawings is
// read.
func TestEveryPage(t *testing.T) {
	b := newTab(t, everyDataset(t))
	for _, p := range append(hostilePages()[:8], everyPage...) {
		b.size(1280, 900)
		b.media("prefers-color-scheme", "light")
		b.see(p)
		eval[bool](b, library)
		for _, bad := range eval[[]string](b, readAccess) {
			t.Errorf("%s: %s", p.address, bad)
		}
		if n := eval[int](b, `document.querySelectorAll(".tabs [aria-current=page]").length`); n != 1 && p.status == 200 && p.address != "keys" {
			t.Errorf("%s: %d current tabs, want 1", p.address, n)
		}
		eval[bool](b, `document.querySelectorAll("details").forEach(d => { d.open = true }), true`)
		b.checkColours(p.address + " (light)")
		b.media("prefers-color-scheme", "dark")
		b.checkColours(p.address + " (dark)")
		for _, wide := range []int64{390, 320} {
			b.size(wide, 844)
			for _, bad := range eval[[]string](b, readNarrow) {
				t.Errorf("%s (%d): %s", p.address, wide, bad)
			}
		}
	}
}

// TestForcedColours checks that bars are seen where colours are forced, and that nothing moves
// where less motion is asked for.
func TestForcedColours(t *testing.T) {
	b := newTab(t, serveVisits(t))
	b.media("forced-colors", "active", "prefers-reduced-motion", "reduce")
	for _, address := range []string{"", "leaf?k=chol", "leaf?k=stage", "?as=list", "leaf?k=sex"} {
		b.open(address)
		eval[bool](b, library)
		for _, p := range eval[[]pair](b, readShapes) {
			require.GreaterOrEqual(t, contrast(t, p.Ink, p.On), 3.0, "%s: %s: %s on %s", address, p.At, p.Ink, p.On)
		}
		text := eval[string](b, `getComputedStyle(document.body).color`)
		for _, fill := range eval[[]string](b, `[...document.querySelectorAll(".bars, .draw:not(.tail), .values rect, td svg rect")].map(x => getComputedStyle(x).fill)`) {
			require.Equal(t, text, fill, "%s: bars have the colour of text", address)
		}
	}
	b.open("")
	require.Equal(t, "none", eval[string](b, `(() => { const x = document.querySelector("[data-fact=rows] b"); x.classList.add("fresh"); return getComputedStyle(x).animationName })()`))
	b.media("prefers-reduced-motion", "no-preference")
	require.NotEqual(t, "none", eval[string](b, `getComputedStyle(document.querySelector(".fresh")).animationName`))
}

// TestFocus goes through the wall with the tab key: the skip link comes first, then header, tree
// and cards in the order in which they are read, and each shows that it has the focus.
func TestFocus(t *testing.T) {
	b := newTab(t, serveVisits(t))
	b.open("")
	b.press("\t")
	require.Equal(t, "#main", eval[string](b, focused))
	require.GreaterOrEqual(t, eval[float64](b, `document.activeElement.getBoundingClientRect().left`), 0.0, "the skip link is seen")
	b.press("\r")
	b.until(`location.hash === "#main"`)
	b.press("\t")
	require.NotEmpty(t, eval[string](b, `(document.activeElement.closest("main") || {}).id || ""`), "the skip link leads into main")

	b.open("")
	last, seen := "", 0
	for range 60 {
		b.press("\t")
		at := eval[struct{ Place, Outline, Name string }](b, `(() => { const x = document.activeElement, s = getComputedStyle(x);
			return { place: x.closest(".skip") ? "0" : x.closest("header") ? "1" : x.closest(".tree") ? "2" : x.closest(".card") ? "4" : x.closest("main") ? "3" : "5",
				outline: parseFloat(s.outlineWidth) >= 2 && s.outlineStyle !== "none" ? s.outlineColor : "", name: x.outerHTML.slice(0, 80) } })()`)
		if at.Place == "5" {
			break
		}
		require.NotEmpty(t, at.Outline, "no outline: %s", at.Name)
		require.GreaterOrEqual(t, at.Place, last, at.Name)
		last = at.Place
		if at.Place == "4" {
			names := eval[string](b, `document.activeElement.querySelector(".name").textContent`)
			require.Equal(t, pbcseq().head[seen], names, "reading order")
			seen++
		}
	}
	require.Equal(t, len(pbcseq().head), seen)
}
