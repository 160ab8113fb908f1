package pickstack_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
	"github.com/go-tensordict/tensordict/memmap"
	"github.com/go-tensordict/tensordict/nestedkey"
	"github.com/go-tensordict/tensordict/ragged"
	"github.com/go-tensordict/tensordict/shapeops"
	"github.com/go-tensordict/tensordict/tdict"
	"github.com/go-tensordict/tensordict/tensor"
)

type key = nestedkey.Key

// two is a problem of two inputs of float32, of which the first is picked from, with a batch of 2.
func two() problem {
	d := newDrawer(77)
	p := problem{dtype: tensor.Float32, pick: true, batch: 2, rows: 3, widths: []int{4, 4}, channels: []int{2, 2}}
	p.index = [][][]int{{{3}, {0}, {3}}, {{1}, {1}, {2}}}
	d.numbers(&p)
	for n := range p.xs {
		for i := range p.xs[n] {
			p.xs[n][i] = float64(10*n + i)
		}
	}
	return p
}

// dict returns the inputs under keys.
func (p problem) dict(keys ...key) *tdict.TensorDict {
	td := tdict.New(p.batch)
	for n, x := range p.inputs() {
		if err := td.Set(keys[n], x); err != nil {
			panic(err)
		}
	}
	return td
}

func entry(t *testing.T, td *tdict.TensorDict, k key) *tensor.Tensor {
	t.Helper()
	x, err := td.Tensor(k)
	require.NoError(t, err)
	return x
}

// TestApply: entries become an entry, flat or nested, and an entry that is there is replaced.
func TestApply(t *testing.T) {
	p := two()
	for _, keys := range [][]key{{"a", "b", "out"}, {"props/a", "props/b", "acts/deep/out"}, {"a", "b", "a"}} {
		td := p.dict(keys[:2]...)
		first := entry(t, td, keys[0])
		require.NoError(t, p.plan(t, tensor.Int64).Apply(td, keys[2], keys[:2]...))
		p.sameForward(t, entry(t, td, keys[2]))
		equal(t, p.xs[0], p.in(0), first, false, true)
	}
}

// TestApplyGradient: entries of the gradients are set under the keys of the inputs.
func TestApplyGradient(t *testing.T) {
	p := two()
	for _, keys := range [][]key{{"a", "b", "out"}, {"props/a", "props/b", "acts/out"}} {
		td, grads := p.dict(keys[:2]...), tdict.New(p.batch)
		require.NoError(t, grads.Set(keys[2], dense(p.dtype, p.out(), p.g)))
		require.NoError(t, p.plan(t, tensor.Int64).ApplyGradient(grads, td, keys[2], keys[:2]...))
		p.sameGradient(t, []*tensor.Tensor{entry(t, grads, keys[0]), entry(t, grads, keys[1])}, nil)
		equal(t, p.g, p.out(), entry(t, grads, keys[2]), false, false)
		require.False(t, td.Has(keys[2]))
	}
}

// TestApplyGradientAdds: to what there is, in a tensor that is not it, and for a key listed twice.
func TestApplyGradientAdds(t *testing.T) {
	p := two()
	old := dense(p.dtype, p.in(0), slices.Repeat([]float64{100}, 16))
	grads, td := tdict.New(p.batch), p.dict("a", "b")
	require.NoError(t, grads.Set("out", dense(p.dtype, p.out(), p.g)))
	require.NoError(t, grads.Set("a", old))
	require.NoError(t, p.plan(t, tensor.Int64).ApplyGradient(grads, td, "out", "a", "b"))
	want := slices.Clone(p.gradient()[0])
	for i := range want {
		want[i] += 100
	}
	equal(t, want, p.in(0), entry(t, grads, "a"), false, false)
	equal(t, slices.Repeat([]float64{100}, 16), p.in(0), old, false, false)

	p.xs[1] = p.xs[0]
	require.NoError(t, p.plan(t, tensor.Int64).ApplyGradient(grads, td, "out", "a", "a"))
	for i := range want {
		want[i] += p.gradient()[0][i] + p.gradient()[1][i]
	}
	equal(t, want, p.in(0), entry(t, grads, "a"), false, false)
}

// TestApplyTwice: a key that is two inputs.
func TestApplyTwice(t *testing.T) {
	p := two()
	p.xs[1] = p.xs[0]
	td := p.dict("a", "b")
	require.NoError(t, p.plan(t, tensor.Int64).Apply(td, "out", "a", "a"))
	p.sameForward(t, entry(t, td, "out"))
}

func stateOfDicts(_ testing.TB, tds []*tdict.TensorDict) string { return fmt.Sprintf("%+v", tds) }

// TestApplyRefusals: what cannot be done changes no dictionary.
func TestApplyRefusals(t *testing.T) {
	p := two()
	plan := p.plan(t, tensor.Int64)
	type dicts = []*tdict.TensorDict
	back := func(x dicts, out key, in ...key) error { return plan.ApplyGradient(x[1], x[0], out, in...) }
	narrow := tdict.New(3)
	require.NoError(t, narrow.Set("out", dense(p.dtype, []int{3, 3, 4}, make([]float64, 36))))
	testkit.Refuse(t, func() dicts {
		td, grads := p.dict("a", "b"), tdict.New(p.batch)
		other := errors.Join(td.Set("text", tensor.Must(tensor.Zeros[int64](2, 4, 2))), grads.Set("out", dense(p.dtype, p.out(), p.g)),
			grads.Set("thin", dense(p.dtype, []int{2, 3, 3}, make([]float64, 18))), td.Set("thin", dense(p.dtype, p.in(0), p.xs[0])))
		require.NoError(t, other)
		return dicts{td, grads}
	}, stateOfDicts, []testkit.Refusal[dicts]{
		{Name: "a key that is not there", Op: func(x dicts) error { return plan.Apply(x[0], "out", "a", "no") }, Is: tdict.ErrMissing},
		{Name: "too few keys", Op: func(x dicts) error { return plan.Apply(x[0], "out", "a") }, Is: shapeops.ErrShape},
		{Name: "integers", Op: func(x dicts) error { return plan.Apply(x[0], "out", "a", "text") }, Is: tensor.ErrDType},
		{Name: "a key through a leaf", Op: func(x dicts) error { return plan.Apply(x[0], "a/out", "a", "b") }, Is: tdict.ErrNotDict},
		{Name: "back of no gradient", Op: func(x dicts) error { return back(x, "no", "a", "b") }, Is: tdict.ErrMissing},
		{Name: "back over a key that is not there", Op: func(x dicts) error { return back(x, "out", "a", "no") }, Is: tdict.ErrMissing},
		{Name: "back of too few channels", Op: func(x dicts) error { return back(x, "thin", "a", "b") }, Is: shapeops.ErrShape},
		{Name: "back to a sum of another shape", Op: func(x dicts) error { return back(x, "out", "a", "thin") }, Is: shapeops.ErrShape},
		{Name: "back of another batch", Op: func(x dicts) error { return plan.ApplyGradient(narrow, x[0], "out", "a", "b") }, Is: shapeops.ErrShape},
	})
	require.Equal(t, 1, len(slices.Collect(narrow.Keys())))
}

// TestApplyLocked: a locked dictionary is not set in, and read as any other.
func TestApplyLocked(t *testing.T) {
	p := two()
	plan, td, grads := p.plan(t, tensor.Int64), p.dict("a", "b"), tdict.New(p.batch)
	require.NoError(t, grads.Set("out", dense(p.dtype, p.out(), p.g)))
	td.Lock()
	require.NoError(t, plan.ApplyGradient(grads, td, "out", "a", "b"))
	before := fmt.Sprintf("%+v %+v", td, entry(t, grads, "a"))
	grads.Lock()
	require.ErrorIs(t, plan.Apply(td, "out", "a", "b"), tdict.ErrLocked)
	require.ErrorIs(t, plan.ApplyGradient(grads, td, "out", "a", "b"), tdict.ErrLocked)
	require.Equal(t, before, fmt.Sprintf("%+v %+v", td, entry(t, grads, "a")))
}

// TestRaggedApply: ragged entries, there and back, and what is there is added to.
func TestRaggedApply(t *testing.T) {
	d := newDrawer(5)
	b := d.problems(3, ways()[1], tensor.Float32)
	plan, td, grads := b.plan(t, tensor.Int64), tdict.New(len(b)), tdict.New(len(b))
	var keys []key
	for n, x := range b.inputs() {
		keys = append(keys, nestedkey.Of("in", fmt.Sprint(n)))
		require.NoError(t, td.Set(keys[n], x))
	}
	require.NoError(t, plan.Apply(td, "out/x", keys...))
	b.sameForward(t, raggedEntry(t, td, "out/x"))
	require.NoError(t, grads.Set("out/x", b.g()))
	require.NoError(t, plan.ApplyGradient(grads, td, "out/x", keys...))
	var dxs []*ragged.Tensor
	for _, k := range keys {
		dxs = append(dxs, raggedEntry(t, grads, k))
	}
	b.sameGradient(t, dxs)
	require.NoError(t, plan.ApplyGradient(grads, td, "out/x", keys...))
	for n, k := range keys {
		b.twice(t, raggedEntry(t, grads, k), n, listed(t, tensor.Must(dxs[n].Values())))
	}
	require.ErrorIs(t, plan.Apply(td, "out/y", append(keys[1:], "no")...), tdict.ErrMissing)
	require.False(t, td.Has("out/y"))
}

func raggedEntry(t *testing.T, td *tdict.TensorDict, k key) *ragged.Tensor {
	t.Helper()
	v, err := td.Get(k)
	require.NoError(t, err)
	require.IsType(t, &ragged.Tensor{}, v)
	return v.(*ragged.Tensor)
}

// TestMapped: inputs, outputs and gradients on mapped files.
func TestMapped(t *testing.T) {
	for _, w := range ways() {
		p := large(w, 1, 50)
		td := p.dict("a", "b")
		require.NoError(t, td.Set("out", dense(p.dtype, p.out(), make([]float64, 50*16))))
		require.NoError(t, td.Set("g", dense(p.dtype, p.out(), p.g)))
		dir := t.TempDir()
		ds, err := memmap.Create(dir+"/x", td, memmap.CreateOptions{})
		require.NoError(t, err)
		for k, x := range td.Tensors() {
			require.NoError(t, entry(t, ds.TensorDict, k).CopyFrom(x))
		}
		p.mapped(t, ds)
		require.NoError(t, ds.Close())
		require.Error(t, testkit.Err(p.plan(t, tensor.Int64).Forward(entry(t, ds.TensorDict, "a"), entry(t, ds.TensorDict, "b"))))
	}
}

// mapped runs a problem on a dataset.
func (p problem) mapped(t *testing.T, ds *memmap.Dataset) {
	t.Helper()
	plan, xs := p.plan(t, tensor.Int64), []*tensor.Tensor{entry(t, ds.TensorDict, "a"), entry(t, ds.TensorDict, "b")}
	want, err := plan.Forward(p.inputs()...)
	require.NoError(t, err)
	require.NoError(t, plan.ForwardInto(entry(t, ds.TensorDict, "out"), xs...))
	require.Equal(t, listed(t, want), listed(t, entry(t, ds.TensorDict, "out")))
	dxs, err := plan.Gradient(entry(t, ds.TensorDict, "g"), xs...)
	require.NoError(t, err)
	require.Equal(t, p.gradients(t), [][]float64{listed(t, dxs[0]), listed(t, dxs[1])})
}
