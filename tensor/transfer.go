package tensor

import (
	"fmt"
	"slices"

	"github.com/go-tensordict/tensordict/internal/plan"
	"github.com/go-tensordict/tensordict/shape"
)

// A Transfer is a list of copies and kernels that are done together or not at all. Each is checked
// in full when it is added; [Transfer.Run] does them in order. An operation on a dictionary adds
// all leaves to one Transfer, so that it changes all of them or none. The zero Transfer is ready
// for use. Not safe for concurrent use.
//
// The methods that add a copy, here and of Tensor, add nothing and return
//
//   - [ErrKind] if a tensor is nil
//   - shape.ErrShape or [ErrDType] if source and destination do not fit
//   - [ErrReadOnly] if the destination is read-only
//   - [ErrLayout] if two elements of the destination share memory, as in an expanded tensor
//   - [ErrOverlap] if source and destination overlap and more than 64 MiB would have to be copied
//     first
type Transfer struct {
	// Workers is the number of cores for a large copy or a kernel with Elements; 0 means
	// GOMAXPROCS. A kernel with Whole decides for itself.
	Workers int

	moves   []move
	tasks   []taskAt // work other than copies, done once all memory is held
	commits []func()
	about   func(error) error
	arena   footprints
}

// Run does the copies and kernels in the order in which they were added, and then calls the
// functions given to [Transfer.Commit].
//
// Copies do not see each other's results: each reads the values that its source had before Run,
// even if a copy or kernel added earlier writes to that source. If the source may be overwritten
// too early, it is first copied to new memory, unless copying the elements in a suitable order is
// enough. Run returns [ErrOverlap], and has changed nothing, if the sources that must be copied to
// new memory have more than 64 MiB together. It does the same if a kernel reads memory that a copy
// or kernel added before it may write. It returns an error, and has changed nothing, if lent memory
// cannot be borrowed, for example after Close of a mapped file.
//
// Two kinds of error are detected only after Run has begun to write:
//
//   - Memory becomes unreadable during a copy, as when another process truncates a mapped file.
//     Earlier copies are done, and this copy is done in part.
//   - After the copies, a [Lender] reports that its memory was not intact. All copies are done.
//
// Functions given to Commit are not called in either case.
//
// Run keeps the list: a second Run repeats it, and [Transfer.Reset] empties it.
func (tr *Transfer) Run() error {
	if err := stageConflicts(tr.moves); err != nil {
		return err
	}
	defer tr.release()
	for _, step := range []func() error{tr.hold, tr.stage, tr.prepare, tr.execute, tr.intact} {
		if err := step(); err != nil {
			return err
		}
	}
	for _, commit := range tr.commits {
		commit()
	}
	return nil
}

// hold borrows all memory before any is written.
func (tr *Transfer) hold() error {
	for i := range tr.moves {
		if m := &tr.moves[i]; m.bytes() > 0 {
			if err := m.hold(); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare lets each task do the part of its work that can fail.
func (tr *Transfer) prepare() error {
	alone := len(tr.tasks) == 1 && len(tr.commits) == 0
	for i := range tr.tasks {
		t := &tr.tasks[i]
		if err := t.named(t.prepare(alone, tr.Workers)); err != nil {
			return err
		}
	}
	return nil
}

// execute does the copies and the tasks, in the order in which they were added.
func (tr *Transfer) execute() error {
	tasks := tr.tasks
	for i := range tr.moves {
		for len(tasks) > 0 && tasks[0].at <= i {
			if err := tasks[0].named(tasks[0].run(tr.Workers)); err != nil {
				return err
			}
			tasks = tasks[1:]
		}
		m := &tr.moves[i]
		if m.later != nil {
			m = m.later
		}
		if m.held && m.half == copies {
			if err := m.runHeld(tr.Workers); err != nil {
				return err
			}
		}
	}
	for i := range tasks {
		if err := tasks[i].named(tasks[i].run(tr.Workers)); err != nil {
			return err
		}
	}
	return nil
}

// intact calls Intact of all lenders.
func (tr *Transfer) intact() error {
	var q inquiry
	for i := range tr.moves {
		if m := &tr.moves[i]; m.held {
			if err := q.intact(m.from, m.to); err != nil {
				return err
			}
		}
	}
	return nil
}

// A task is work of a [Transfer] other than a copy. The memory that it reads and writes is listed
// among the moves.
type task interface {
	// prepare does the part of the work that can fail, before anything is written. alone is true if
	// the Transfer has nothing else to do.
	prepare(alone bool, workers int) error
	run(workers int) error
}

// A taskAt is a task, the number of moves before it, and a function that adds context to its
// errors, or nil.
type taskAt struct {
	task
	at    int
	about func(error) error
}

// named adds the task's context to an error.
func (t *taskAt) named(err error) error {
	if err == nil || t.about == nil {
		return err
	}
	return t.about(err)
}

// task adds a task whose sides were added before.
func (tr *Transfer) task(t task) { tr.tasks = append(tr.tasks, taskAt{t, len(tr.moves), tr.about}) }

// About sets the function that adds context, such as the key of a leaf, to the errors that
// [Transfer.Run] returns for kernels added after this call. It does not affect the errors of
// copies. With a nil fn, no context is added.
func (tr *Transfer) About(fn func(error) error) { tr.about = fn }

// whole calls fn, which adds copies. If fn fails, it removes them.
func (tr *Transfer) whole(fn func() error) error {
	moves, tasks, commits := len(tr.moves), len(tr.tasks), len(tr.commits)
	err := fn()
	if err != nil {
		tr.moves, tr.tasks, tr.commits = tr.moves[:moves], tr.tasks[:tasks], tr.commits[:commits]
	}
	return err
}

// side adds a tensor that a task reads or writes, so that its memory is held and compared with
// other copies.
func (tr *Transfer) side(group int, t *Tensor, written half) {
	m := tr.next()
	m.all(t.dtype.Size(), t.mem, t.mem, t.view, t.view)
	m.group, m.half = group, written
}

// release returns the memory that Run borrowed.
func (tr *Transfer) release() {
	for i := range tr.moves {
		if m := &tr.moves[i]; m.held {
			m.release()
		}
	}
}

// Reset removes all copies, kernels and functions from tr for reuse. It keeps Workers, and the
// memory of its lists.
func (tr *Transfer) Reset() {
	clear(tr.moves)
	clear(tr.tasks)
	clear(tr.commits)
	tr.moves, tr.tasks, tr.commits = tr.moves[:0], tr.tasks[:0], tr.commits[:0]
	tr.about = nil
}

// Commit adds a function that [Transfer.Run] calls after all copies have succeeded. It is for
// changes that are not copies of elements, such as replacing a value that is not a tensor. fn must
// not fail.
func (tr *Transfer) Commit(fn func()) {
	if fn != nil {
		tr.commits = append(tr.commits, fn)
	}
}

// next returns a move to fill in, which add then checks and keeps.
func (tr *Transfer) next() *move {
	switch n := len(tr.moves); n {
	case 0:
	case 1:
		tr.moves = slices.Grow(tr.moves, 15) // a dictionary, not one tensor
	case cap(tr.moves):
		tr.moves = slices.Grow(tr.moves, n) // append grows by a quarter, and copies more often
	}
	tr.moves = append(tr.moves, move{})
	return &tr.moves[len(tr.moves)-1]
}

// add keeps the move that next returned, unless err is not nil or the move overwrites what it
// reads.
func (tr *Transfer) add(m *move, err error) error {
	if err == nil {
		err = m.resolve(&tr.arena)
	}
	if err != nil {
		tr.moves = tr.moves[:len(tr.moves)-1]
	}
	return err
}

// Copy adds dst[...] = src. src broadcasts to the shape of dst.
func (tr *Transfer) Copy(dst, src *Tensor) error {
	if err := checkWrite(dst, src); err != nil {
		return err
	}
	return tr.copyView(dst, dst.view, src)
}

// copyView adds a copy of src, broadcast, to a view of dst.
func (tr *Transfer) copyView(dst *Tensor, part shape.View, src *Tensor) error {
	view, err := src.broadcast(part.Shape)
	if err != nil {
		return err
	}
	m := tr.next()
	m.all(dst.dtype.Size(), dst.mem, src.mem, part, view)
	return tr.add(m, nil)
}

// Fill adds dst[...] = the only element of value. It returns shape.ErrShape unless value has
// exactly one element.
func (tr *Transfer) Fill(dst, value *Tensor) error {
	if err := checkFill(dst, value); err != nil {
		return err
	}
	m := tr.next()
	m.fill(dst.dtype.Size(), dst.mem, dst.view, value)
	return tr.add(m, nil)
}

// Runs adds, for each run, dst[To:To+Len] = src[From:From+Len] along dim 0:
//
//	src [N F...], dst [M F...]
//
// If several runs write a row, the last one wins. The Transfer keeps runs, which must not change
// before Run. Runs returns shape.ErrIndex if a run is out of range of dst or src.
func (tr *Transfer) Runs(dst, src *Tensor, runs []shape.Run) error {
	if err := checkRows(dst, src); err != nil {
		return err
	}
	if err := plan.CheckRuns(runs, dst.view.Shape[0], src.view.Shape[0]); err != nil || len(runs) == 0 {
		return err
	}
	m := tr.next()
	m.stretches(dst.dtype.Size(), dst.mem, src.mem, dst.view, src.view, runs)
	return tr.add(m, nil)
}

// AddExecute adds dst[...] = p.Plan applied to t. IndexInto of a tensor and of a dictionary call
// it.
func (v *ops) AddExecute(tr *Transfer, dst *Tensor, p *plan.Pass) error {
	t := (*Tensor)(v)
	if err := checkInto(dst, t); err != nil {
		return err
	}
	if err := p.CheckPlan(t.view.Shape); err != nil {
		return err
	}
	if err := dst.view.Shape.CheckEqual(p.Extend(t.view.Shape)); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	if p.Plan.Laid() {
		return tr.lay(dst, t, p)
	}
	if c := t.compressed(p, dst); c != nil && !dst.SharesMemory(t) {
		tr.compress(c)
		return nil
	}
	m, planned, width := tr.next(), p.Plan, dst.dtype.Size()
	if k := planned.Pick(); k != nil {
		frame, err := p.Frame(t.view)
		if err == nil {
			m.gather(width, dst.mem, t.mem, dst.view, frame, len(k.Shape()))
		}
		return tr.add(m, err)
	}
	part, ok, err := p.View(t.view)
	if ok {
		m.all(width, dst.mem, t.mem, dst.view, part)
	} else if err == nil { // a reshape beyond what strides express
		m.listed(width, dst.mem, t.mem, dst.view, len(planned.Shape()), t.view, len(planned.From()))
	}
	return tr.add(m, err)
}

// AddWrite adds t[p.Plan] = src. src broadcasts to the shape of that part of t. If the plan picks a
// position twice, the last value written wins. SetIndex of a tensor and of a dictionary call it.
func (v *ops) AddWrite(tr *Transfer, src *Tensor, p *plan.Pass) error {
	t := (*Tensor)(v)
	if err := checkWrite(t, src); err != nil {
		return err
	}
	if err := p.CheckPlan(t.view.Shape); err != nil {
		return err
	}
	k := p.Plan.Pick()
	if k == nil {
		part, ok, err := p.View(t.view)
		if err == nil && !ok {
			err = fmt.Errorf("%w: strides do not express the part %v", ErrLayout, p.Plan)
		}
		if err != nil {
			return err
		}
		return tr.copyView(t, part, src)
	}
	view, err := src.broadcast(p.Extend(t.view.Shape))
	if err != nil {
		return err
	}
	m := tr.next()
	frame, err := p.Frame(t.view)
	if err == nil {
		m.scatter(t.dtype.Size(), t.mem, src.mem, view, frame, len(k.Shape()))
	}
	return tr.add(m, err)
}

// checkWrite returns an error unless elements of src can be stored in dst.
func checkWrite(dst, src *Tensor) error {
	if dst == nil || src == nil {
		return errNil
	}
	if src.dtype != dst.dtype {
		return fmt.Errorf("%w: got %v, want %v", ErrDType, src.dtype, dst.dtype)
	}
	return dst.checkWritable()
}

// checkInto is checkWrite for a destination that the caller of an operation on src passed. It names
// the destination in errors.
func checkInto(dst, src *Tensor) error {
	if dst == nil || src == nil {
		return errNil
	}
	if dst.dtype != src.dtype {
		return fmt.Errorf("destination: %w: got %v, want %v", ErrDType, dst.dtype, src.dtype)
	}
	if err := dst.checkWritable(); err != nil {
		return fmt.Errorf("destination: %w", err)
	}
	return nil
}

// checkFill returns an error unless value has exactly one element, which can be stored in dst.
func checkFill(dst, value *Tensor) error {
	if err := checkWrite(dst, value); err != nil {
		return err
	}
	if value.Size() != 1 {
		return fmt.Errorf("%w: got a fill value of shape %v, want one element", shape.ErrShape, value.view.Shape)
	}
	return nil
}

// checkRows returns an error unless rows of src can be stored in dst.
func checkRows(dst, src *Tensor) error {
	if err := checkWrite(dst, src); err != nil {
		return err
	}
	a, b := dst.view.Shape, src.view.Shape
	if len(a) == 0 || len(b) == 0 || !a[1:].Equal(b[1:]) {
		return fmt.Errorf("%w: got source %v and destination %v, want the same dims after the first",
			shape.ErrShape, b, a)
	}
	return nil
}

// checkWritable returns an error if t is read-only or two of its elements share memory.
func (t *Tensor) checkWritable() error {
	if err := t.mem.checkWritable(); err != nil {
		return err
	}
	if t.Size() == 0 {
		return nil
	}
	for dim, stride := range t.view.Strides {
		if stride == 0 && t.view.Shape[dim] > 1 {
			return fmt.Errorf("%w: expanded dim %d repeats its elements: call Clone first",
				ErrLayout, dim)
		}
	}
	if t.view.Overlaps() {
		return fmt.Errorf("%w: windows share elements: call Clone first", ErrLayout)
	}
	return nil
}

// broadcast returns a view that repeats t's elements to the given sizes.
func (t *Tensor) broadcast(sizes shape.Shape) (shape.View, error) {
	if t.view.Shape.Equal(sizes) {
		return t.view, nil
	}
	p, err := plan.Expand(t.view.Shape, sizes...)
	if err != nil {
		return shape.View{}, err
	}
	v, _, err := p.View(t.view)
	return v, err
}
