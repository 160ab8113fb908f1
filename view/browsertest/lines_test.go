package browsertest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// series returns the days and values of the visits of each patient.
func series(t *testing.T, name string) (days, values [][]float64) {
	t.Helper()
	f := pbcseq()
	day, _ := f.numbers(t, "day")
	value, _ := f.numbers(t, name)
	ids := f.column("id")
	for i, id := range ids {
		if i == 0 || id != ids[i-1] {
			days, values = append(days, nil), append(values, nil)
		}
		last := len(days) - 1
		days[last], values[last] = append(days[last], day[i]), append(values[last], value[i])
	}
	return days, values
}

// readLine returns for each point of the data whether the chosen line goes through it, and through
// the place 6 units above it. Grid lines and ticks say where a value is.
const readLine = `(points => {
	const number = x => Number(x.textContent.replace(/,/g, "").replace("−", "-"));
	const scale = (texts, at) => { const [a, b] = [texts[0], texts[texts.length - 1]]; const k = (at(b) - at(a)) / (number(b) - number(a)); return v => at(a) + (v - number(a)) * k; };
	const texts = [...document.querySelectorAll(".chart text:not(.chosenname)")];
	const y = scale(texts.filter(x => x.getAttribute("x") === "-8"), x => parseFloat(x.getAttribute("y")));
	const x = scale(texts.filter(x => x.getAttribute("x").includes("%%")), x => parseFloat(x.getAttribute("x")) * 11.22);
	const line = document.querySelector("path.chosen");
	const on = (px, py) => line.isPointInStroke(new DOMPoint(px, py));
	const near = (px, py) => [0, -0.5, 0.5].some(dx => [0, -0.5, 0.5].some(dy => on(px + dx, py + dy)));
	return points.map(([day, value]) => near(x(day), y(value)) && !near(x(day), y(value) - 6));
})(%s)`

func TestLinesOfPatients(t *testing.T) {
	days, bilis := series(t, "bili")
	b := newTab(t, serve(t, save(t, "patients", patients(t))))
	b.open("lines?k=bili&x=day&row=23&from=16")
	require.Equal(t, "Row 23 "+said(bilis[23])+"; 47 rows behind it", b.text("main h2"))
	points := "["
	for i := range days[23] {
		points += fmt.Sprintf("[%v,%v],", days[23][i], bilis[23][i])
	}
	for i, on := range eval[[]bool](b, fmt.Sprintf(readLine, points+"]")) {
		require.True(t, on, "visit %d on day %v: %v", i, days[23][i], bilis[23][i])
	}
	words := b.texts(".many .top")
	require.Len(t, words, 20)
	for i, text := range words {
		require.Equal(t, fmt.Sprint(16+i, " ", said(bilis[16+i])), text)
		over := slices.Max(bilis[16+i]) > 30
		require.Equal(t, over, eval[bool](b, fmt.Sprintf(`!!document.querySelectorAll(".many li")[%d].querySelector(".over")`, i)), "row %d has a dashed top", 16+i)
	}
	require.Equal(t, "23", b.text(".many .now b"))
	b.click(".many li:nth-child(3) a")
	require.Contains(t, b.text("main h2"), "Row 18 ")
	b.click("[rel=next]")
	require.Equal(t, "36", b.texts(".many .top b")[0])
}

// said says how many values a row has, and from where to where they are.
func said(row []float64) string {
	if len(row) == 1 {
		return fmt.Sprintf("1 value, %v", row[0])
	}
	return fmt.Sprintf("%d values, %v to %v", len(row), slices.Min(row), slices.Max(row))
}
