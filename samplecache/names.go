package samplecache

import "github.com/go-tensordict/tensordict/samplecache/engine"

// Types that users and engines share; package engine defines them and documents their fields.
type (
	// An Engine is the storage of a cache. A dircache.Engine is a directory that the processes of
	// one machine share; a memcache.Engine is the memory of one process; a natscache.Engine
	// is on servers, for several machines. [Open] joins the cache. Package engine says what an
	// implementation must do.
	Engine = engine.Engine

	// A Config describes a cache:
	//
	//   - Samples, the number of samples of a generation, must be set.
	//   - Retain is the number of generations kept besides the latest, by default 1.
	//   - MaxHeld is the number of older generations that may be kept because they are being read,
	//     by default 2.
	//   - MaxHold is the time for which they may be kept, by default without end.
	//   - Durable makes Commit wait for the disk.
	//   - Limits bound the ratio of samples taken to samples put.
	//
	// For the fields of this type and of the types below see go doc ./samplecache/engine.
	Config = engine.Config
	// Limits say how fast groups take samples compared with how fast producers put them:
	//
	//   - PerInsert is how often each sample is taken, with MinSize, MinDiff and MaxDiff as bounds.
	//     They are the bounds of Reverb's SampleToInsertRatio, minus PerInsert*MinSize.
	//   - MinPasses is how often each group reads a generation before the next is published.
	//   - MaxPasses is how often each group may read a generation.
	//
	// Nothing waits for a group without members. The zero Limits limit nothing.
	Limits = engine.Limits
	// A Window is the set of numbers that a producer has committed: all below Floor, and Floor+i
	// for each bit i of Above.
	Window = engine.Window
	// An Info says where a sample comes from: its Producer, its Number, the Time of its commit, and
	// Sums, the CRC-32 (as in zip files) of each leaf in the order of the schema.
	Info = engine.Info

	// Stats describe a cache at one time: the generation that is being filled, the generations that
	// are kept, the reason why the next publication waits, and the members. Their JSON uses the
	// field names of wirehead's logger.
	Stats = engine.Stats
	// SlotStats say which process holds a slot, and for how long.
	SlotStats = engine.SlotStats
	// HolderStats say which process reads a generation that is kept only because it is read.
	HolderStats = engine.HolderStats
	// MemberStats say which process is a member of a cache, and since when.
	MemberStats = engine.MemberStats
	// ProducerStats describe a producer with a name: its process, and its committed numbers.
	ProducerStats = engine.ProducerStats
	// GroupStats describe a group that has members: its number of ranks, and the rows that it has
	// taken.
	GroupStats = engine.GroupStats

	// A RowError says which Generation, Row and Key (of a leaf) an error is about. It wraps the
	// reason, Err.
	RowError = engine.RowError
)

// WindowSize bounds the numbers that a producer may reserve: they are less than WindowSize above
// the first number that is not committed.
const WindowSize = engine.WindowSize

// Errors, for errors.Is.
var (
	// ErrClosed says that a cache, or something that it gave out, was used after its Close.
	ErrClosed = engine.ErrClosed
	// ErrConfig says that a [Config] or [Options] is invalid.
	ErrConfig = engine.ErrConfig
	// ErrEngine says that there is no engine.
	ErrEngine = engine.ErrEngine
	// ErrSchema says that a sample does not have the keys, dtypes and shapes of the schema.
	ErrSchema = engine.ErrSchema
	// ErrProducerBusy says that another producer has the name.
	ErrProducerBusy = engine.ErrProducerBusy
	// ErrProducer says that a producer's name is invalid or unknown, or that there are too many
	// names.
	ErrProducer = engine.ErrProducer
	// ErrCommitted says that a number was committed before.
	ErrCommitted = engine.ErrCommitted
	// ErrReserved says that a number is reserved by a slot that is neither committed nor aborted.
	ErrReserved = engine.ErrReserved
	// ErrGroup says that a group cannot be entered with this name or number of ranks.
	ErrGroup = engine.ErrGroup
	// ErrEmpty says that no generation was published yet.
	ErrEmpty = engine.ErrEmpty
	// ErrGenerationGone says that a generation is not kept any more, or was not published yet.
	ErrGenerationGone = engine.ErrGenerationGone
	// ErrChecksum says that the bytes of a sample differ from the bytes that were committed.
	ErrChecksum = engine.ErrChecksum
	// ErrCorrupt says that the stored cache violates its format.
	ErrCorrupt = engine.ErrCorrupt
	// ErrOtherHost says that the cache belongs to another machine, or may be shared with other
	// machines.
	ErrOtherHost = engine.ErrOtherHost
	// ErrBlocked says that an operation is not possible yet. If the context of a method ends while
	// the method waits, its error wraps ErrBlocked, with the reason.
	ErrBlocked = engine.ErrBlocked
	// ErrInUse says that a cache cannot be removed, because somebody uses it.
	ErrInUse = engine.ErrInUse
	// ErrUnavailable says that the servers of an engine do not answer.
	ErrUnavailable = engine.ErrUnavailable
	// ErrLimits says that the [Limits] are invalid, or that a cache under them could stop for ever.
	ErrLimits = engine.ErrLimits
)
