// Package pickstack gathers rows of several tensors, or pools them, and concatenates the results
// along the channels, in one pass. It also computes the gradients.
//
//	indices, widths := []*tensor.Tensor{index0, index1}, []int{1000, 40}
//	plan, err := pickstack.NewPick(indices, widths, pickstack.PickOptions{})
//	out, err := plan.Forward(x0, x1)
//	err = plan.ForwardInto(out, x0, x1)  // into memory that is there
//	dxs, err := plan.Gradient(g, x0, x1) // g: the gradient of out
//
// These are pick-stack and pick-pool-stack, the two operators that carry messages in action schema
// networks and other networks on relations:
//
//	x_n [B P_n C_n], N inputs;  index_n [A], pools_n [A *] -> out [B A sum(C_n)]
//
//	pick:  out[b a] = x_0[b index_0[a]]  ++  x_1[b index_1[a]]  ++ ...
//	pool:  out[b a] = max of x_0[b p] over p in pools_0[a]  ++  max of x_1 ... pools_1[a]  ++ ...
//
// What is picked depends on the problem (a planning problem, a graph), not on the numbers: a [Plan]
// is made once, checks all indices against the rows that the inputs have, and serves any number of
// batches. GradientInto and AddGradient write gradients to memory that the caller owns.
//
// [NewPool] makes plans that pool: [Max], [Min], [Mean], [Sum] or [LogSumExp] of each pool, raised
// to [PoolOptions.MinValue], if there is one, which is also what an empty pool is, unless
// [PoolOptions.Empty] says so. [Pick], [Pool], [PickGradient] and [PoolGradient] make a plan for
// one call.
//
// An input without an index, nil, is passed on row by row: a skip connection. One tensor may be
// several inputs.
//
// A [RaggedPlan] does so for a batch of Q problems that differ in size, all in one call:
//
//	x_n [Q * C_n];  index_n [Q *], pools_n [Q * *] -> out [Q * sum(C_n)]
//
// Apply and ApplyGradient of both work on entries of a TensorDict.
//
// # Numbers
//
// Inputs, output and gradients have one dtype: float32, float64, float16 or bfloat16; those of 16
// bits are stored so and computed in float32. Pools are folded in the order of their entries, and
// gradients summed in the order of the rows of the output, so that results are equal bit for bit
// whatever the number of goroutines, the layout and the memory.
//
//	           empty pool  with NaN  gradient, g being that of the output
//	Max        -Inf        NaN       g to the entries that attain it, shared as Ties says
//	Min        +Inf        NaN       the same
//	Mean       NaN         NaN       g / k to each of k entries
//	Sum        0           NaN       g to each entry
//	LogSumExp  -Inf        NaN       g exp(x - out) to each entry
//
// An entry that a pool lists twice counts twice. Max and Min order -0 before 0, but the two tie. A
// NaN is not raised to MinValue; of Max and Min the entries that are NaN attain it. Of a
// LogSumExp that is infinite the entries that are as infinite get equal shares. MinValue itself has
// no gradient: where it is greater than what it replaces, no entry gets any, and where it is equal,
// the entries get all.
//
// # Memory
//
// Inputs may be strided or mapped and are read where they lie. The output may be a view, of mapped
// memory too, but must not share elements with an input.
//
// A call of a Plan that was used before, into tensors that are there, allocates nothing; one of a
// RaggedPlan some headers. To see that nothing overlaps takes memory if tensors span parts of one
// another, or there are more than some 40 inputs. Gradients that depend on the inputs take room,
// for each goroutine, for those rows of an input that pools have, in 8 to 32 channels.
//
// # Concurrency
//
// A Plan does not change: safe for concurrent use. Calls use up to GOMAXPROCS goroutines if there
// is enough to do, or as many as the options say. A gradient that depends on the inputs is made by
// at most one for each batch element, input, problem and stretch of channels.
//
// # Source
//
// The operators are those of ASNets (Toyer et al., Action Schema Networks, 2018), which have one
// dtype, one type of index and one reduction. Sharing ties evenly is what tf.math.segment_max and
// torch.segment_reduce do.
//
// # Implementation
//
//  1. A [Plan] holds a table for each input: the rows of the input that make each row of the
//     output. The first gradient makes the inverse of each table, the transposed index.
//  2. A call checks its operands. It gets a call for their dtype, kept from an earlier call with
//     all its memory. A call has three type parameters: the type that is stored, the type that is
//     computed with, and the type of the keys that are compared.
//  3. Workers each borrow the memory of all tensors, and take tasks until none is left. A task is
//     a tile of the output (forward.go); a tile of the gradient of an input that is a sum along the
//     inverse (jobs.go; both use gather.go); or a strip of a gradient that depends on the input
//     (scatter.go). A strip has some channels of the rows that pools have, copied side by side;
//     extremes.go and spread.go add the gradients to it.
//  4. No two tasks write the same element, and a task has one order. So results do not depend on
//     the number of workers.
//
// To add a reduction: a constant in options.go with its result for an empty pool, a folder, the
// last step in finish, and a way to spread its gradient.
package pickstack
