package samplecache

import "github.com/go-tensordict/tensordict/samplecache/engine"

// Types that users and engines share; package engine defines them and documents their fields.
type (
	// An Engine is a place where a cache is kept: a dircache.Engine is a directory that the
	// processes of one machine share, a memcache.Engine the memory of one process. [Open] joins it.
	// Package engine says what others have to do.
	Engine = engine.Engine

	// A Config says how a cache is kept. Samples, the number of samples of a generation, must be
	// set. Retain is how many generations are kept besides the latest, by default 1. MaxHeld is how
	// many more may be kept because somebody reads them, by default 2, and MaxHold for how long, by
	// default without end. Durable has Commit wait for the disk. Limits bound the ratio of samples
	// that are taken to samples that are put. For the fields of this type and of those below see
	// go doc ./samplecache/engine.
	Config = engine.Config
	// Limits say how fast groups take samples compared with how fast producers put them. PerInsert
	// is how often each sample is taken, with MinSize, MinDiff and MaxDiff as bounds: those of
	// Reverb's SampleToInsertRatio, less PerInsert*MinSize. MinPasses is how often each group reads
	// a generation before the next is published, and MaxPasses how often it may. Nothing waits for
	// a group without members. The zero Limits are none.
	Limits = engine.Limits
	// A Window is the set of numbers that a producer has committed: all below Floor, and Floor+i
	// for each bit i of Above.
	Window = engine.Window
	// An Info says where a sample comes from: its Producer, its Number there, the Time of its
	// commit, and Sums, the CRC-32C of each leaf in the order of the schema.
	Info = engine.Info

	// Stats describe a cache at one moment: how full the generation is that is being filled, which
	// generations are kept, what the next publication waits for, and who takes part. Encoded as
	// JSON they have the names of wirehead's logger.
	Stats = engine.Stats
	// SlotStats say who holds a slot, and for how long.
	SlotStats = engine.SlotStats
	// MemberStats say which process takes part in a cache, and since when.
	MemberStats = engine.MemberStats
	// ProducerStats describe a producer with a name: its process, and the numbers it has committed.
	ProducerStats = engine.ProducerStats
	// GroupStats describe a group that has members: its ranks, and the rows it has taken.
	GroupStats = engine.GroupStats

	// A RowError says which Generation, Row and Key, the key of a leaf, an error is about. It wraps
	// the reason Err.
	RowError = engine.RowError
)

// WindowSize is how far beyond the first number that is not committed a producer may reserve.
const WindowSize = engine.WindowSize

// Errors, for errors.Is.
var (
	// ErrClosed says that a cache, or something that it gave out, was used after its Close.
	ErrClosed = engine.ErrClosed
	// ErrConfig says that a [Config] or [Options] cannot be used.
	ErrConfig = engine.ErrConfig
	// ErrEngine says that there is no engine.
	ErrEngine = engine.ErrEngine
	// ErrSchema says that a sample is not like the others of the cache.
	ErrSchema = engine.ErrSchema
	// ErrProducerBusy says that another is the producer of that name.
	ErrProducerBusy = engine.ErrProducerBusy
	// ErrProducer says that there can be no producer of a name, or that there is none.
	ErrProducer = engine.ErrProducer
	// ErrCommitted says that the sample of a number is committed.
	ErrCommitted = engine.ErrCommitted
	// ErrReserved says that a number is reserved by a slot that is neither committed nor aborted.
	ErrReserved = engine.ErrReserved
	// ErrGroup says that a group cannot be entered with that name or number of ranks.
	ErrGroup = engine.ErrGroup
	// ErrEmpty says that no generation was published yet.
	ErrEmpty = engine.ErrEmpty
	// ErrGenerationGone says that a generation is not kept any more, or was not published yet.
	ErrGenerationGone = engine.ErrGenerationGone
	// ErrChecksum says that a sample is not what was committed.
	ErrChecksum = engine.ErrChecksum
	// ErrCorrupt says that the place of a cache does not hold what its format demands.
	ErrCorrupt = engine.ErrCorrupt
	// ErrOtherHost says that the place belongs to another machine, or may be shared with others.
	ErrOtherHost = engine.ErrOtherHost
	// ErrBlocked says that something cannot be done yet. It is wrapped, with the reason, by the
	// error of a method whose context ended while it waited.
	ErrBlocked = engine.ErrBlocked
	// ErrUnavailable says that the servers of an engine do not answer.
	ErrUnavailable = engine.ErrUnavailable
	// ErrLimits says that a cache under such [Limits] could come to a stop for ever.
	ErrLimits = engine.ErrLimits
)
