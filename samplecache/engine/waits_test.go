package engine

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWaits has a row for each thing that may wait.
func TestWaits(t *testing.T) {
	put := []ProducerStats{{Name: "gen", PID: 7}}
	gone := []ProducerStats{{Name: "gen"}}
	members := []MemberStats{{PID: 7}}
	ratio := Config{Samples: 100, MaxHold: time.Second, Limits: Limits{PerInsert: 2, MinSize: 10, MinDiff: 0, MaxDiff: 201}}
	train := func(taken, current int64) []GroupStats {
		return []GroupStats{{Name: "fast", World: 1, Members: 1, Taken: taken + 1, Current: current}, {Name: "train", World: 1, Members: 1, Taken: taken, Current: current}}
	}
	for _, tt := range []struct {
		rule  string
		c     Config
		s     Stats
		kinds []string
		texts []string
	}{
		{"nothing waits", Config{}, Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 20, Producers: put, Members: members}, nil, nil},
		{"nobody uses a cache that has samples", Config{}, Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 20}, nil, nil},
		{
			"a full generation, and MinPasses", Config{Limits: Limits{MinPasses: 1}},
			Stats{
				Latest: 12, Filling: 13, Samples: 100, Committed: 100, Producers: put, Groups: train(20, 20)[1:],
				PublishWaits: `group "train", which has taken 20 rows of generation 12, want 100`,
			},
			[]string{"publish"},
			[]string{`Producers wait for room: generation 13 is full and waits for group "train", which has taken 20 rows of generation 12, want 100 (MinPasses 1).`},
		},
		{
			"a full generation, and the lock", Config{Limits: Limits{MinPasses: 1}},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 100, Producers: put, Groups: train(20, 20)[1:], PublishWaits: "pid 5, which has the lock"},
			[]string{"publish"}, []string{"Producers wait for room: generation 13 is full and waits for pid 5, which has the lock."},
		},
		{
			"the lock, and MinPasses", Config{Limits: Limits{MinPasses: 1}},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 100, Groups: train(100, 100)[1:], PublishWaits: "pid 5, which has the lock"},
			[]string{"publish"}, []string{"Producers wait for room: generation 13 is full and waits for pid 5, which has the lock."},
		},
		{
			"generations that are held", Config{MaxHeld: 1},
			Stats{
				Latest: 12, Filling: 13, Samples: 100, Held: []uint64{9, 10}, PublishWaits: Config{MaxHeld: 1}.Held([]uint64{9, 10}),
				Holders: []HolderStats{{9, 17, "a"}, {10, 18, ""}},
			},
			[]string{"room"},
			[]string{"Producers wait for room: generation 13 waits for readers: MaxHeld is 1, and generations [9 10], which are not retained any more, are still read, 9 by pid 17 on a, 10 by pid 18."},
		},
		{
			"many who hold them", Config{MaxHeld: -1},
			Stats{Latest: 12, Filling: 13, Samples: 100, PublishWaits: "readers", Holders: []HolderStats{{9, 1, ""}, {9, 2, ""}, {9, 3, ""}, {9, 4, ""}, {9, 5, ""}, {9, 6, ""}}},
			[]string{"room"},
			[]string{"Producers wait for room: generation 13 waits for readers, 9 by pid 1, 9 by pid 2, 9 by pid 3, 9 by pid 4 and 2 more."},
		},
		{
			"the disk is full, and readers are not the reason", Config{},
			Stats{Latest: 12, Filling: 13, Samples: 100, PublishWaits: "room on the disk", Held: []uint64{9}, Holders: []HolderStats{{9, 17, "a"}}},
			[]string{"room"}, []string{"Producers wait for room: generation 13 waits for room on the disk."},
		},
		{
			"the slot held longest, of the last ones", Config{},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 98, Reserved: 2, Slots: []SlotStats{{5, 7, time.Second, "a"}, {9, 8, 40 * time.Second, "b"}}},
			[]string{"slot"},
			[]string{"Producers wait for a free slot: 98 of 100 samples of generation 13 are committed, and 2 slots are held, slot 9 longest, by pid 8 on b for 40s."},
		},
		{
			"slots that are held while others are free", Config{},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 97, Reserved: 2, Slots: []SlotStats{{5, 7, time.Second, "a"}, {9, 8, 40 * time.Second, "b"}}}, nil, nil,
		},
		{
			"producers wait for the slowest group", ratio,
			// (1+1200+30-10)*2-taken > 201 from taken = 2240 down
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 29, Reserved: 1, Slots: []SlotStats{{}}, Producers: put, Groups: train(2231, 1)},
			[]string{"group"},
			[]string{`Producers wait for group "train": limits allow no more than the 30 samples that generation 13 has, before groups take more rows, and it has to take 10 more before the next sample (PerInsert 2, MaxDiff 201).`},
		},
		{"the ratio allows one more", ratio, Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 29, Producers: put, Groups: train(2241, 1)}, nil, nil},
		{
			"a group waits for more samples, and nobody puts", ratio,
			// (1200+50-10)*2 = 2480
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 50, Producers: gone, Groups: train(2480, 1)[1:], Members: members},
			[]string{"samples", "put"},
			[]string{
				`Group "train" waits for samples, at least 1 more: it has taken all rows that limits allow (PerInsert 2, MinDiff 0).`,
				"Nobody puts samples: no producer is a member that has put samples before, and no slot is reserved.",
			},
		},
		{"a group may take one row more", ratio, Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 50, Groups: train(2479, 1)[1:]}, nil, nil},
		{
			"a group has had its passes", Config{Limits: Limits{MaxPasses: 2}},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 4, Producers: put, Groups: train(900, 200)[1:]},
			[]string{"next_generation"},
			[]string{`Group "train" waits for generation 13, which has 4 of 100 samples: it has taken 200 rows of generation 12, and limits allow no more (MaxPasses 2).`},
		},
		{"as many passes as there are numbers", Config{Limits: Limits{MaxPasses: math.MaxInt}}, Stats{Latest: 12, Filling: 13, Samples: 100, Producers: put, Groups: train(900, 199)[1:]}, nil, nil},
		{"a group is in its last pass", Config{Limits: Limits{MaxPasses: 2}}, Stats{Latest: 12, Filling: 13, Samples: 100, Groups: train(900, 199)[1:]}, nil, nil},
		{
			"a rank has ended its last pass, and another has not", Config{Limits: Limits{MaxPasses: 2}},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 4, Producers: put, Groups: []GroupStats{{Name: "train", World: 2, Members: 2, Taken: 900, Current: 150, NoPass: true}}},
			[]string{"next_generation"},
			[]string{`A member of group "train" waits for generation 13, which has 4 of 100 samples: it has ended its pass over generation 12, and limits allow no more (MaxPasses 2).`},
		},
		{
			"a pass that would outlast its generation", Config{Limits: Limits{MinPasses: 1, PerInsert: 2, MinSize: 10, MaxDiff: 201}},
			Stats{Latest: 12, Filling: 13, Samples: 100, Committed: 20, Producers: put, Groups: []GroupStats{{Name: "train", World: 1, Members: 1, Taken: 2400, Current: 100, NoPass: true}}},
			[]string{"next_generation"},
			[]string{`A member of group "train" waits for generation 13, which has 20 of 100 samples, or for samples: limits allow no more passes over generation 12 now (MinPasses 1, MaxPasses 0, PerInsert 2, MinDiff 0).`},
		},
		{
			"the first generation, and a producer draws", Config{},
			Stats{Filling: 1, Samples: 100, Reserved: 1, Slots: []SlotStats{{}}, Groups: train(0, 0)[1:], Members: members}, []string{"first_generation"},
			[]string{`Group "train" waits for the first generation, 1, which has 0 of 100 samples.`},
		},
		{"a new cache", Config{}, Stats{Filling: 1, Samples: 100}, []string{"put"}, []string{"Nobody puts samples: the cache has no members."}},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			var kinds, texts []string
			for _, w := range tt.s.Waits(tt.c) {
				kinds, texts = append(kinds, w.For), append(texts, w.Text)
				require.Contains(t, WaitKinds(), w.For)
			}
			require.Equal(t, tt.kinds, kinds)
			require.Equal(t, tt.texts, texts)
		})
	}
}

// TestMissing compares the number of samples that a group waits for with a search one by one.
func TestMissing(t *testing.T) {
	for _, l := range []Limits{{PerInsert: 2, MinSize: 10, MaxDiff: 201}, {PerInsert: 0.3, MinSize: 1, MinDiff: -2, MaxDiff: 50}, {PerInsert: 1e-3, MinSize: 3, MinDiff: 1, MaxDiff: 9}} {
		for inserts := range int64(30) {
			taken := l.MaxTaken(inserts)
			want := int64(1)
			for l.MaxTaken(inserts+want) <= taken {
				want++
			}
			require.Equal(t, want, l.missing(inserts, taken), "%+v %d", l, inserts)
		}
	}
}
