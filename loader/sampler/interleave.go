package sampler

// An interleave divides positions among parts, so that each part has its share of every stretch of
// positions. The pattern repeats: in each cycle, part j has counts[j] positions.
//
// Of the first m positions part j has m * counts[j] / cycle, rounded up or down. So of any m
// consecutive positions its number differs by less than 2 from that.
type interleave struct {
	counts []int
	slots  []slot // the positions of one cycle
}

// A slot is a position of a cycle: it is position rank, within the cycle, of part.
type slot struct{ part, rank int32 }

// newInterleave returns the interleave of parts with these counts, all positive, after division by
// their greatest common divisor. Then their sum is at most math.MaxInt32.
//
// The k-th position of a part with share s must be from k/s rounded down to (k+1)/s rounded up;
// then the rule of [interleave] holds. Such an order exists, since a part could have the fraction s
// of every position. It is found by taking, for each position, the part with the earliest deadline
// (Baruah, Cohen, Plaxton and Varvel, Proportionate Progress, 1996).
func newInterleave(counts []int) *interleave {
	counts, cycle := reduced(counts)
	n := len(counts)
	d := &scheduler{counts, make([]int32, n), make([]int32, cycle), make([]int32, n), nil}
	for part := range counts {
		d.wait(int32(part), 0)
	}
	in := &interleave{counts, make([]slot, cycle)}
	for at := range in.slots {
		in.slots[at] = d.next(at)
	}
	return in
}

// reduced returns counts after division by their greatest common divisor, and their sum.
func reduced(counts []int) ([]int, int) {
	divisor, sum := 0, 0
	for _, c := range counts {
		for c != 0 {
			divisor, c = c, divisor%c
		}
	}
	small := make([]int, len(counts))
	for i, c := range counts {
		small[i] = c / divisor
		sum += small[i]
	}
	return small, sum
}

// at returns the part of a position, and its index among all positions of that part.
func (in *interleave) at(position int) (part, index int) {
	cycle := len(in.slots)
	if position < cycle {
		s := in.slots[position]
		return int(s.part), int(s.rank)
	}
	s := in.slots[position%cycle]
	return int(s.part), position/cycle*in.counts[s.part] + int(s.rank)
}

// A scheduler builds an interleave. Each part is either waiting for the time from which it may have
// its next position, in a list of the parts with the same time, or due.
type scheduler struct {
	counts []int
	ranks  []int32 // by part: number of positions it has had
	begins []int32 // by time: 1 + the first part waiting for that time
	later  []int32 // by part: 1 + the next part waiting for the same time
	due    heap
}

// wait makes a part wait for the time of its next position, which is now or later.
func (d *scheduler) wait(part int32, now int) {
	time := max(now, int(d.begin(part)))
	d.later[part], d.begins[time] = d.begins[time], part+1
}

// next returns the slot for the time now.
func (d *scheduler) next(now int) slot {
	for part := d.begins[now]; part > 0; part = d.later[part-1] {
		d.due.push(d.deadline(part - 1))
	}
	part := d.due.pop().part
	s := slot{part, d.ranks[part]}
	d.ranks[part]++
	if int(d.ranks[part]) < d.counts[part] {
		d.wait(part, now+1)
	}
	return s
}

// begin returns the earliest time of a part's next position.
func (d *scheduler) begin(part int32) int32 {
	return int32(int(d.ranks[part]) * len(d.begins) / d.counts[part])
}

// deadline returns the deadline of a part's next position.
func (d *scheduler) deadline(part int32) deadline {
	ends := int(d.ranks[part]+1) * len(d.begins)
	return deadline{int32((ends-1)/d.counts[part] + 1), d.begin(part), part}
}

// A deadline is the time by which a part must have its next position. Among equal times, the part
// that has waited longest comes first, then the part with the lower number.
type deadline struct{ time, begin, part int32 }

func (d deadline) before(e deadline) bool {
	switch {
	case d.time != e.time:
		return d.time < e.time
	case d.begin != e.begin:
		return d.begin < e.begin
	}
	return d.part < e.part
}

// A heap is a binary heap of deadlines, the earliest at index 0.
type heap []deadline

func (h *heap) push(d deadline) {
	*h = append(*h, d)
	all, i := *h, len(*h)-1
	for i > 0 && d.before(all[(i-1)/2]) {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = d
}

func (h *heap) pop() deadline {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	*h = all
	i := 0
	for child := 1; child < len(all); child = 2*i + 1 {
		if child+1 < len(all) && all[child+1].before(all[child]) {
			child++
		}
		if !all[child].before(last) {
			break
		}
		all[i], i = all[child], child
	}
	if len(all) > 0 {
		all[i] = last
	}
	return first
}
