package main

import (
	"github.com/go-tensordict/tensordict/loader"
	"github.com/go-tensordict/tensordict/loader/sampler"
	"github.com/go-tensordict/tensordict/ragged"
)

// A contender is a way to iterate over the rows of a table.
type contender struct {
	where, name string
	table       *table
	opt         loader.Options
	views       bool // batches are views, which the loop copies
}

// contenders returns the contenders for two tables with the same number of rows.
func contenders(where string, dense, uneven *table, c config) ([]contender, error) {
	groups, err := sampler.NewGroups(ids(dense.rows()), sampler.GroupOptions{})
	if err != nil {
		return nil, err
	}
	whole, err := groups.Batches(sampler.GroupBatchOptions{Groups: max(1, c.batch/groupRows)})
	if err != nil {
		return nil, err
	}
	all := []contender{
		{name: "sequential", table: dense, views: true, opt: loader.Options{Batch: c.batch}},
		{name: "shuffled", table: dense, opt: loader.Options{Batch: c.batch, Sampler: sampler.Random()}},
		{name: "block-shuffled", table: dense, opt: loader.Options{Batch: c.batch, Sampler: sampler.Blocks(blocks)}},
		{name: "grouped", table: dense, opt: loader.Options{Batching: whole, Sampler: sampler.Random()}},
		{name: "padded", table: uneven, opt: loader.Options{
			Batch: c.batch, Sampler: sampler.Random(), Collate: loader.Pad(ragged.DensifyOptions{}),
		}},
	}
	for i := range all {
		all[i].where, all[i].opt.Workers, all[i].opt.Seed = where, c.workers, 1
	}
	return all, nil
}

// blocks are the defaults, written out: see foot.
var blocks = sampler.BlockOptions{BlockBytes: 1 << 20, WindowBytes: 64 << 20}

// ahead is how many bytes are read ahead of the loop if files are not in memory.
const ahead = 64 << 20

// fromDisk returns a contender for files whose pages are not in memory. The block-shuffled
// contender reads ahead.
func (c contender) fromDisk() contender {
	if c.name == "block-shuffled" {
		c.opt.ReadAhead = ahead
	}
	c.where = cold
	return c
}
