package samplecache

import "github.com/go-tensordict/tensordict/samplecache/engine"

// What users and engines share is defined in package engine.
type (
	// An Engine is a place where a cache is kept: dircache.Engine is a directory that the processes
	// of a machine share, memcache.Engine the memory of one process. [Open] joins it.
	Engine = engine.Engine
	// A Config says how a cache is kept.
	Config = engine.Config
	// Limits say how fast samples are put and taken compared with each other.
	Limits = engine.Limits
	// A Window is the set of numbers that a producer has committed.
	Window = engine.Window
	// An Info says where a sample comes from.
	Info = engine.Info
	// Stats are what is known of a cache at one moment.
	Stats = engine.Stats
	// SlotStats say who holds a slot.
	SlotStats = engine.SlotStats
	// MemberStats say who takes part.
	MemberStats = engine.MemberStats
	// ProducerStats are about a producer with a name.
	ProducerStats = engine.ProducerStats
	// GroupStats are about a group that has members.
	GroupStats = engine.GroupStats
	// A RowError says which sample of a generation is at fault.
	RowError = engine.RowError
	// A BlockedError is an [ErrBlocked] that finds out its reason only when it is asked.
	BlockedError = engine.BlockedError
)

// WindowSize is how far beyond the first number that is not committed a producer may reserve.
const WindowSize = engine.WindowSize

// Errors, for errors.Is.
var (
	ErrClosed         = engine.ErrClosed
	ErrConfig         = engine.ErrConfig
	ErrEngine         = engine.ErrEngine
	ErrSchema         = engine.ErrSchema
	ErrProducerBusy   = engine.ErrProducerBusy
	ErrProducer       = engine.ErrProducer
	ErrCommitted      = engine.ErrCommitted
	ErrReserved       = engine.ErrReserved
	ErrGroup          = engine.ErrGroup
	ErrEmpty          = engine.ErrEmpty
	ErrGenerationGone = engine.ErrGenerationGone
	ErrChecksum       = engine.ErrChecksum
	ErrCorrupt        = engine.ErrCorrupt
	ErrOtherHost      = engine.ErrOtherHost
	ErrBlocked        = engine.ErrBlocked
	ErrUnavailable    = engine.ErrUnavailable
	ErrLimits         = engine.ErrLimits
)
