package browsertest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
	"github.com/go-tensordict/tensordict/view"
)

// TestShots writes screenshots of pages, in light and dark, wide and narrow, to be looked at.
func TestShots(t *testing.T) {
	one := func(sources ...view.Source) string { return serveSources(t, sources) }
	path := func(name string, td *tdict.TensorDict) view.Source { return view.Source{Path: save(t, name, td)} }
	bases := map[string]string{
		"three":    one(path("digits-ink", digitsInk(t)), path("patients", patients(t)), path("visits", visits(t))),
		"visits":   one(path("visits", visits(t))),
		"patients": one(path("patients", patients(t))),
		"digits":   one(path("digits", digits(t))),
		"ink":      one(path("digits-ink", digitsInk(t))),
		"cohort":   one(path("cohort", cohort(t))),
		"hostile":  one(view.Source{Name: "hostile", Dict: drawnHostile(t)}),
		"events":   one(view.Source{Path: grow(t, "events", 0).path}),
	}
	b := newTab(t, bases["visits"])
	hover := `document.querySelector("svg.large g:nth-of-type(5)").focus({ focusVisible: false }), true`
	for _, shot := range []struct {
		name, data, address, theme string
		wide, high                 int64
		before                     string // done before the picture is taken
	}{
		{"01-wall-light", "visits", "", "light", 1280, 900, `document.querySelectorAll("a.card")[4].focus(), true`},
		{"02-wall-kinds-dark", "three", "", "dark", 1280, 900, ``},
		{"03-leaf-numbers-light", "visits", "leaf?k=chol&index=[0,+1,+2,+-2,+-1]", "light", 1280, 900, hover},
		{"04-leaf-text", "patients", "leaf?k=outcome", "light", 636, 900, ``},
		{"04-leaf-ragged", "patients", "leaf?k=bili", "dark", 636, 900, ``},
		{"05-leaf-image-dark", "digits", "leaf?k=image&index=0,+2:5", "dark", 1280, 900, ``},
		{"06-rows-one-open-light", "ink", "rows?from=20&row=31", "light", 1280, 900, ``},
		{"07-pictures-dark", "digits", "pictures?k=image", "dark", 1280, 900, ``},
		{"08-lines-light", "patients", "lines?k=bili&x=day&from=16&row=23", "light", 1280, 900, ``},
		{"10-many-leaves", "cohort", "?as=list", "light", 1280, 532, ``},
		{"10-search", "cohort", "search?q=ecg", "light", 1280, 400, ``},
		{"11-hostile", "hostile", "rows?row=0", "light", 836, 470, ``},
		{"11-empty", "events", "", "dark", 436, 196, ``},
		{"11-keys", "visits", "keys", "light", 436, 420, ``},
		{"12-phone-wall", "visits", "", "light", 390, 844, ``},
		{"12-phone-leaf", "visits", "leaf?k=chol&index=[0,+1,+2,+-2,+-1]", "dark", 390, 844, ``},
		{"12-phone-rows", "ink", "rows?from=20", "light", 390, 844, ``},
	} {
		b.move(bases[shot.data])
		b.size(shot.wide, shot.high)
		b.media("prefers-color-scheme", shot.theme)
		b.open(shot.address)
		if shot.before != "" {
			eval[bool](b, shot.before)
		}
		b.shot(shot.name)
	}
}

// cohort returns a dictionary of many leaves: 12 clinics of patients.
func cohort(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(16)
	column := tensor.Must(tensor.Arange(0, int64(16), 1))
	for clinic := range 12 {
		for patient := range 14 + clinic {
			dict := tdict.New(16)
			set(t, dict, "admission", column)
			set(t, dict, "ecg", tensor.Must(ragged.From[float32](make([][]float32, 16))))
			set(t, dict, "labs/crp", column)
			set(t, td, fmt.Sprintf("clinic-%02d/patient-%04d", clinic+1, patient+1), dict)
		}
	}
	return td
}

// drawnHostile returns the hostile keys and texts of the design.
func drawnHostile(t testing.TB) *tdict.TensorDict {
	t.Helper()
	td := tdict.New(3)
	add := func(key string, v tdict.Value) { require.NoError(t, td.Set(nestedkey.Of(key), v)) }
	texts := func(s ...string) tdict.Value { return tensor.Must(ragged.FromStrings(s)) }
	whole := tensor.Must(tensor.Arange(0, int64(3), 1))
	add("<script>alert(1)</script>", whole)
	add("\u202egnp.exe", whole)
	add("a/b", whole)
	add("x\x00y\n", texts("line\nbreak \x1b[31mred", "", "\xff"))
	add("\u200f\u05e9\u05dc\u05d5\u05dd", texts("<img src=x onerror=alert(2)>", "", ""))
	add(strings.Repeat("k", 200), tensor.Must(tensor.From([]float64{1.5, 2, 3}, 3)))
	add("nan", tensor.Must(tensor.From([]float64{1, math.NaN(), math.Inf(1)}, 3)))
	add(`style="background:url(//evil)"`, texts("\u202eabc", "", ""))
	return td
}
