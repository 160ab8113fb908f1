package ragged_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/shapeops/ix"
	"github.com/go-tensordict/tensordict/tensor"
)

// words are texts with all that may go wrong: none, long ones, several bytes a letter, no UTF-8.
var words = []string{"", "a", "née", "日本", "a\x00b", "\xff\xfe", strings.Repeat("long ", 100), "\"quoted\"\n"}

// anyTexts returns n random texts.
func anyTexts(r *rand.Rand, n int) []string {
	texts := make([]string, n)
	for i := range texts {
		texts[i] = words[r.IntN(len(words))]
	}
	return texts
}

func TestTexts(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		shape []int
		want  string
	}{
		{"no shape", []string{"a", "", "née"}, nil, "ragged uint8 [3 *]"},
		{"two dims", []string{"a", "", "b", "c"}, []int{2, 2}, "ragged uint8 [2 2 *]"},
		{"no texts", nil, nil, "ragged uint8 [0 *]"},
		{"no texts of two dims", nil, []int{3, 0}, "ragged uint8 [3 0 *]"},
		{"empty texts", []string{"", ""}, nil, "ragged uint8 [2 *]"},
		{"no UTF-8", []string{"\xff", "a\x00"}, nil, "ragged uint8 [2 *]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, err := ragged.FromStrings(tt.texts, tt.shape...)
			require.NoError(t, err)
			require.Equal(t, tt.want, x.Text())
			got, err := ragged.Strings(x)
			require.NoError(t, err)
			require.Equal(t, fmt.Sprintf("%q", tt.texts), fmt.Sprintf("%q", got))
		})
	}
}

// Whatever has become of the rows, the texts are those of a slice of strings.
func TestTextsOfViews(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 1))
	for range 200 {
		n := 1 + r.IntN(12)
		texts := anyTexts(r, n)
		x := tensor.Must(ragged.FromStrings(texts))
		for range r.IntN(4) {
			x, texts = reordered(r, x, texts)
		}
		got, err := ragged.Strings(x)
		require.NoError(t, err)
		require.Equal(t, texts, got)
		for i, want := range texts {
			one, err := ragged.StringAt(x, i-len(texts)*r.IntN(2))
			require.NoError(t, err)
			require.Equal(t, want, one)
		}
		codes, distinct, err := ragged.Categories(x)
		require.NoError(t, err)
		require.Equal(t, naiveDistinct(texts), append([]string{}, distinct...))
		back := tensor.Must(ragged.FromCategories(codes, distinct))
		require.Equal(t, texts, tensor.Must(ragged.Strings(back)))
	}
}

// reordered returns texts after a random operation on rows, and the same of a slice.
func reordered(r *rand.Rand, x *ragged.Tensor, texts []string) (*ragged.Tensor, []string) {
	n := len(texts)
	switch r.IntN(4) {
	case 0:
		from := r.IntN(n + 1)
		to := from + r.IntN(n-from+1)
		return tensor.Must(x.Range(from, to)), texts[from:to]
	case 1:
		rows, picked := r.Perm(n), make([]string, n)
		for i, row := range rows {
			picked[i] = texts[row]
		}
		return tensor.Must(x.TakeRows(rows...)), picked
	case 2:
		more := anyTexts(r, 3)
		both := tensor.Must(shapeops.Cat([]*ragged.Tensor{x, tensor.Must(ragged.FromStrings(more))}, 0))
		return both, append(slices.Clone(texts), more...)
	}
	every := []string{}
	for i := 0; i < n; i += 2 {
		every = append(every, texts[i])
	}
	return tensor.Must(x.Index(ix.All.Step(2))), every
}

// naiveDistinct returns the distinct texts in the order of their first rows.
func naiveDistinct(texts []string) []string {
	distinct := []string{}
	for _, text := range texts {
		if !slices.Contains(distinct, text) {
			distinct = append(distinct, text)
		}
	}
	return distinct
}

// planned returns x after an operation that dictionaries do.
func planned(x *ragged.Tensor, p *plan.Plan) *ragged.Tensor {
	return tensor.Must(x.Ops().Execute(plan.NewPass(p)))
}

func TestTextsOfSeveralDims(t *testing.T) {
	x := tensor.Must(ragged.FromStrings([]string{"a", "bb", "", "d", "e", "f"}, 2, 3))
	turned := planned(x, tensor.Must(plan.Permute(x.Shape(), 1, 0)))
	require.Equal(t, []string{"a", "d", "bb", "e", "", "f"}, tensor.Must(ragged.Strings(turned)))
	require.Equal(t, "e", tensor.Must(ragged.StringAt(turned, 1, -1)))
	one := tensor.Must(x.Index(ix.At(0), ix.At(1)))
	require.Equal(t, "bb", tensor.Must(ragged.StringAt(one)))
	require.Equal(t, []string{"bb"}, tensor.Must(ragged.Strings(one)))
	codes, texts, err := ragged.Categories(one)
	require.NoError(t, err)
	require.Equal(t, "[] [bb]", fmt.Sprint(codes.Shape(), texts))
	require.True(t, one.Equal(tensor.Must(ragged.FromCategories(codes, texts))))
	wide := planned(x, tensor.Must(plan.Expand(x.Shape(), 2, 2, 3)))
	require.Len(t, tensor.Must(ragged.Strings(wide)), 12)
}

func TestCategories(t *testing.T) {
	x := tensor.Must(ragged.FromStrings([]string{"b", "a", "b", ""}, 2, 2))
	codes, texts, err := ragged.Categories(x)
	require.NoError(t, err)
	require.Equal(t, []string{"b", "a", ""}, texts)
	require.True(t, tensor.Must(tensor.From([]int32{0, 1, 0, 2}, 2, 2)).Equal(codes))
	require.True(t, x.Equal(tensor.Must(ragged.FromCategories(codes, texts))))
	codes, texts, err = ragged.Categories(tensor.Must(ragged.FromStrings(nil)))
	require.NoError(t, err)
	require.Equal(t, "[0] []", fmt.Sprint(codes.Shape(), texts))
}

// Texts that TextCodes gave away stay as they are while more come.
func TestTextCodesStay(t *testing.T) {
	var c ragged.TextCodes
	var want []string
	var given [][]string
	for i := range 3000 {
		text := fmt.Sprint("text ", i, strings.Repeat("x", i%50))
		want = append(want, text)
		buf := []byte(text)
		require.Equal(t, int32(i), tensor.Must(c.Code(buf)))
		clear(buf)
		require.Equal(t, int32(i/2), tensor.Must(c.Code([]byte(want[i/2]))))
		given = append(given, c.Texts())
	}
	for i, texts := range given {
		require.Equal(t, want[i], texts[i])
		require.Len(t, texts, i+1)
	}
}

func TestTextBuilder(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 2))
	var b ragged.TextBuilder
	for range 50 {
		b.Reset()
		texts := anyTexts(r, r.IntN(20))
		for i, text := range texts {
			if require.Equal(t, i, b.Len()); i%2 == 0 {
				b.Append(text)
			} else {
				b.AppendBytes([]byte(text))
			}
		}
		x := tensor.Must(b.Tensor())
		b.Append("later")
		require.True(t, tensor.Must(ragged.FromStrings(texts)).Equal(x))
	}
	b.Reset()
	for _, text := range words[:6] {
		b.Append(text)
	}
	require.True(t, tensor.Must(ragged.FromStrings(words[:6], 3, 2)).Equal(tensor.Must(b.Tensor(3, 2))))
	var none ragged.TextBuilder
	require.Equal(t, "ragged uint8 [0 *]", tensor.Must(none.Tensor()).Text())
}

func TestTextRefusals(t *testing.T) {
	text := tensor.Must(ragged.FromStrings([]string{"a", "b"}))
	pairs := tensor.Must(ragged.New(tensor.Must(tensor.Zeros[uint8](3, 2)), oneDeep().Layout()))
	deep := tensor.Must(ragged.From[uint8]([][][]uint8{{{1}}}))
	meta := tensor.Must(text.MapValues(func(v *tensor.Tensor) (*tensor.Tensor, error) { return v.ToMeta() }))
	tests := []struct {
		name string
		err  error
		want error
	}{
		{"a shape of other texts", testkit.Err(ragged.FromStrings([]string{"a"}, 2)), shapeops.ErrShape},
		{"a negative shape", testkit.Err(ragged.FromStrings([]string{"a"}, -1)), shapeops.ErrShape},
		{"a builder's shape of other texts", testkit.Err(new(ragged.TextBuilder).Tensor(2)), shapeops.ErrShape},
		{"strings of numbers", testkit.Err(ragged.Strings(oneDeep())), tensor.ErrDType},
		{"strings two deep", testkit.Err(ragged.Strings(deep)), shapeops.ErrDim},
		{"strings with features", testkit.Err(ragged.Strings(pairs)), shapeops.ErrShape},
		{"strings without elements", testkit.Err(ragged.Strings(meta)), tensor.ErrMeta},
		{"one string of numbers", testkit.Err(ragged.StringAt(oneDeep(), 0)), tensor.ErrDType},
		{"a row that is not there", testkit.Err(ragged.StringAt(text, 2)), shapeops.ErrIndex},
		{"a negative one", testkit.Err(ragged.StringAt(text, -3)), shapeops.ErrIndex},
		{"no position", testkit.Err(ragged.StringAt(text)), shapeops.ErrIndex},
		{"positions too many", testkit.Err(ragged.StringAt(text, 0, 0)), shapeops.ErrIndex},
		{"one string without elements", testkit.Err(ragged.StringAt(meta, 0)), tensor.ErrMeta},
		{"categories of numbers", func() error { _, _, err := ragged.Categories(oneDeep()); return err }(), tensor.ErrDType},
		{"categories without elements", func() error { _, _, err := ragged.Categories(meta); return err }(), tensor.ErrMeta},
		{"a code too large", testkit.Err(ragged.FromCategories(tensor.Must(tensor.From([]int32{0, 1, 1, 2}, 2, 2)), []string{"a", "b"})), shapeops.ErrIndex},
		{"a negative code", testkit.Err(ragged.FromCategories(tensor.Vector[int32](-1), []string{"a"})), shapeops.ErrIndex},
		{"codes of another dtype", testkit.Err(ragged.FromCategories(tensor.Vector[int64](0), []string{"a"})), tensor.ErrDType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { testkit.Fails(t, tt.want, tt.err) })
	}
}

// Allocations do not grow with rows nor bytes.
func TestTextAllocations(t *testing.T) {
	for _, n := range []int{100, 10_000} {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprint("text ", i%20)
		}
		x := tensor.Must(ragged.FromStrings(texts))
		var b ragged.TextBuilder
		chunk := func() {
			b.Reset()
			for _, text := range texts {
				b.Append(text)
			}
			_, _ = b.Tensor()
		}
		chunk()
		var c ragged.TextCodes
		for _, text := range texts {
			_, _ = c.Code([]byte(text))
		}
		known := []byte(texts[3])
		for name, count := range map[string]struct {
			most float64
			run  func()
		}{
			"FromStrings": {12, func() { _, _ = ragged.FromStrings(texts) }},
			"Strings":     {3, func() { _, _ = ragged.Strings(x) }},
			"StringAt":    {16, func() { _, _ = ragged.StringAt(x, n/2) }},
			"a chunk":     {10, chunk},
			"Code":        {0, func() { _, _ = c.Code(known) }},
			"Categories":  {20, func() { _, _, _ = ragged.Categories(x) }},
		} {
			require.LessOrEqual(t, testing.AllocsPerRun(5, count.run), count.most, "%s of %d", name, n)
		}
	}
}

// TestTextBuilderOutlived: what is copied of texts before Reset stays, whatever rows come then.
func TestTextBuilderOutlived(t *testing.T) {
	var b ragged.TextBuilder
	b.Append("ab")
	b.Append("")
	b.Append("cde")
	texts := tensor.Must(b.Tensor())
	kept := tensor.Must(texts.Clone())
	some := tensor.Must(texts.TakeRows(2, 0))
	some = tensor.Must(some.Clone())
	b.Reset()
	for range 3 {
		b.Append("longer")
	}
	require.Equal(t, []string{"ab", "", "cde"}, tensor.Must(ragged.Strings(kept)))
	require.Equal(t, []string{"cde", "ab"}, tensor.Must(ragged.Strings(some)))
	require.Equal(t, []int64{0, 2, 2, 5}, tensor.Must(texts.Layout().Offsets(1)), "a Layout never changes")
}

func TestNewTextCodes(t *testing.T) {
	c := tensor.Must(ragged.NewTextCodes([]string{"b", "", "a"}))
	require.Equal(t, int32(2), tensor.Must(c.Code([]byte("a"))))
	require.Equal(t, int32(3), tensor.Must(c.Code([]byte("new"))))
	require.Equal(t, []string{"b", "", "a", "new"}, c.Texts())
	testkit.Fails(t, shapeops.ErrIndex, testkit.Err(ragged.NewTextCodes([]string{"a", "b", "a"})))
}
