// Package pickstack gathers rows of several tensors, or pools them, and concatenates the results
// along the channels, in one pass. It also computes the gradients.
//
//	indices, widths := []*tensor.Tensor{index0, index1}, []int{1000, 40}
//	plan, err := pickstack.NewPick(indices, widths, pickstack.PickOptions{})
//	out, err := plan.Forward(x0, x1)
//	err = plan.ForwardInto(out, x0, x1)  // into existing memory
//	dxs, err := plan.Gradient(g, x0, x1) // g is the gradient of out
//
// These are the operators pick-stack and pick-pool-stack, which carry messages in action schema
// networks and other networks on relations:
//
//	x_n [B P_n C_n], N inputs;  index_n [A], pools_n [A *] -> out [B A sum(C_n)]
//
//	pick:  out[b a] = x_0[b index_0[a]]  ++  x_1[b index_1[a]]  ++ ...
//	pool:  out[b a] = max of x_0[b p] over p in pools_0[a]  ++  max of x_1 ... pools_1[a]  ++ ...
//
// The indices depend on the problem (a planning problem, a graph), not on the numbers. So a [Plan]
// is made once, checks all indices against the numbers of rows of the inputs, and serves any number
// of batches. GradientInto and AddGradient write gradients to memory of the caller.
//
// [NewPool] makes plans that pool by a [Reduction]: [Max], [Min], [Mean], [Sum] or [LogSumExp].
// [FromSplits] makes pools of values and row splits. An [InputError] says which input an error is
// about.
// [PoolOptions.MinValue], if set, is a lower bound of the results, and the result for an empty pool
// unless [PoolOptions.Empty] is set.
//
// An input whose index is nil is passed on row by row: a skip connection. One tensor may be several
// inputs.
//
// A [RaggedPlan], by [NewRaggedPick] or [NewRaggedPool], does this for a batch of Q problems that
// differ in size, in one call:
//
//	x_n [Q * C_n];  index_n [Q *], pools_n [Q * *] -> out [Q * sum(C_n)]
//
// The methods Apply and ApplyGradient of both plans work on entries of a TensorDict.
//
// # Numbers
//
// Inputs, output and gradients have one dtype: float32, float64, float16 or bfloat16. The 16-bit
// dtypes are computed in float32. Pools are folded in the order of their entries, and gradients are
// summed in the order of the rows of the output. So results are equal bit for bit, whatever the
// number of goroutines, the layout and the memory.
//
// In this table g is the gradient of the output:
//
//	           empty pool  with NaN  gradient
//	Max        -Inf        NaN       g to the entries that attain it, as Ties says
//	Min        +Inf        NaN       the same
//	Mean       NaN         NaN       g / k to each of k entries
//	Sum        0           NaN       g to each entry
//	LogSumExp  -Inf        NaN       g exp(x - out) to each entry
//
// Special cases:
//
//   - An entry that a pool lists twice counts twice.
//   - Max and Min order -0 before 0, but for the gradient the two tie.
//   - NaN is not raised to MinValue. In Max and Min the entries that are NaN attain the extreme.
//   - If the result of LogSumExp is infinite, the entries equal to it get equal shares.
//   - MinValue has no gradient: where it is greater than the result that it replaces, no entry
//     gets a gradient. Where the two are equal, the entries get all of it.
//
// # Memory
//
// Inputs may be strided or mapped, and are read in place. The output may be a view, also of mapped
// memory, but must not share elements with an input.
//
// A repeated call of a Plan into existing tensors allocates nothing; a call of a RaggedPlan
// allocates some headers. The check for overlap allocates if tensors interleave in memory, or if
// there are more than about 40 inputs. A gradient that depends on the inputs needs memory on each
// goroutine, for 8 to 32 channels of the rows of an input that pools contain.
//
// # Concurrency
//
// A Plan is immutable, and safe for concurrent use. A call uses up to GOMAXPROCS goroutines if
// there is enough to do, or as many as the options say. For a gradient that depends on the inputs
// there is at most one goroutine for each batch element, input, problem and strip of channels.
//
// # Source
//
// The operators come from ASNets (Toyer et al., Action Schema Networks, 2018), which have one
// dtype, one type of index and one reduction. tf.math.segment_max and torch.segment_reduce share
// ties evenly too.
//
// # Implementation
//
//  1. A [Plan] holds a table for each input: for each row of the output, the rows of the input.
//     The first gradient computes the inverse of each table, the transposed index.
//  2. A public method checks its operands, and then gets a call for their dtype, with the memory
//     of earlier calls. A call has three type parameters: the stored type, the type to compute
//     with, and the type of keys to compare.
//  3. Workers each borrow the memory of all tensors, and run tasks until none is left. A task is
//     a tile of the output (forward.go); a tile of the gradient of an input that is a sum along
//     the inverse (jobs.go; both use gather.go); or a strip of a gradient that depends on the
//     input (scatter.go). A strip has some channels of the rows that pools contain, copied to
//     contiguous memory; extremes.go and spread.go add the gradients to it.
//  4. No two tasks write the same element, and a task works in a fixed order. So results do not
//     depend on the number of workers.
//
// To add a reduction, add a constant in options.go with its result for an empty pool, a folder, its
// last step in finish, and a function that spreads its gradient.
package pickstack
