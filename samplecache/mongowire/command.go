package mongowire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/internal/errtext"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// A command is a command of MongoDB that the server answers.
type command struct {
	fields string // its options; "*" for any
	list   string // the option whose documents may follow as a sequence
	before bool   // allowed before the login
	admin  bool   // allowed for any database
	run    func(s *Server, ctx context.Context, r *request) (rope, error)
}

const (
	maxFields  = 64      // of a command, and of a projection
	maxCommand = 2 * mib // bytes of a command other than insert
	maxName    = 255     // bytes of the name of a collection, as in MongoDB
)

// everywhere lists the options of every command.
const everywhere = "$db lsid $readPreference $clusterTime readConcern writeConcern comment maxTimeMS"

var commands map[string]command

func init() { // not a composite literal: methods refer to commands
	hello := command{"*", "", true, true, (*Server).hello}
	sasl := command{"mechanism payload autoAuthorize options conversationId db", "", true, true, (*Server).sasl}
	commands = map[string]command{
		"hello": hello, "ismaster": hello, "isMaster": hello, "saslStart": sasl, "saslContinue": sasl,
		"ping":            {"", "", true, true, (*Server).succeed},
		"endSessions":     {"", "", true, true, (*Server).succeed},
		"currentOp":       {"ns", "", false, true, (*Server).currentOp},
		"listCollections": {"cursor nameOnly filter authorizedCollections", "", false, false, (*Server).listCollections},
		"collStats":       {"", "", false, false, (*Server).collStats},
		"find":            {"filter projection sort limit singleBatch batchSize", "", false, false, (*Server).find},
		"getMore":         {"collection batchSize", "", false, false, (*Server).getMore},
		"killCursors":     {"cursors", "", false, false, (*Server).killCursors},
		"findAndModify":   {"query update new upsert", "", false, false, (*Server).findAndModify},
		"insert":          {"documents ordered", "documents", false, false, (*Server).insert},

		"create":           {"", "", false, false, (*Server).create},
		"createIndexes":    {"indexes", "", false, false, (*Server).createIndexes},
		"drop":             {"", "", false, false, (*Server).drop},
		"update":           {"updates ordered", "updates", false, false, (*Server).update},
		"dropDatabase":     {"", "", false, false, (*Server).dropDatabase},
		"renameCollection": {"*", "", false, true, (*Server).refuse},
		"delete":           {"*", "", false, false, (*Server).refuse},
	}
}

// A commandError is an error reply, with a code of MongoDB.
type commandError struct {
	code int
	name string
	text string
}

func (e *commandError) Error() string { return e.text }

// Errors with MongoDB's codes.
var (
	internalError    = commandError{1, "InternalError", ""}
	badValue         = commandError{2, "BadValue", ""}
	unauthorized     = commandError{13, "Unauthorized", ""}
	wrongLogin       = commandError{18, "AuthenticationFailed", ""}
	cursorNotFound   = commandError{43, "CursorNotFound", ""}
	expired          = commandError{50, "MaxTimeMSExpired", ""}
	commandNotFound  = commandError{59, "CommandNotFound", ""}
	invalidNamespace = commandError{73, "InvalidNamespace", ""}
	shuttingDown     = commandError{91, "ShutdownInProgress", ""}
	notSupported     = commandError{115, "CommandNotSupported", ""}
	notValid         = commandError{121, "DocumentValidationFailure", ""}
	unknownField     = commandError{40415, "Location40415", ""}
)

// saying returns e with a text.
func (e commandError) saying(format string, args ...any) error {
	e.text = errtext.Cut(fmt.Sprintf(format, args...), 2048)
	return &e
}

// coded returns err as an error reply.
func coded(err error) *commandError {
	known, ok := errors.AsType[*commandError](err)
	switch {
	case ok:
		return known
	case errors.Is(err, context.DeadlineExceeded):
		known, _ = expired.saying("%v", err).(*commandError)
	case errors.Is(err, ErrServerClosed):
		known, _ = shuttingDown.saying("the server is shutting down").(*commandError)
	default:
		known, _ = internalError.saying("%v", err).(*commandError)
	}
	return known
}

// execute executes a command and returns the reply.
func (s *Server) execute(r *request) rope {
	s.active.Add(1)
	defer s.active.Add(-1)
	reply, err := s.run(r)
	if err == nil {
		return reply
	}
	e := coded(err)
	return whole(bson.D{{"ok", 0.0}, {"errmsg", e.text}, {"code", e.code}, {"codeName", e.name}})
}

func (s *Server) run(r *request) (rope, error) {
	name, _ := r.body.First()
	cmd, ok := commands[name]
	if !ok {
		return rope{}, commandNotFound.saying("no such command: %s", errtext.Quote(name))
	}
	if err := s.check(r, cmd); err != nil {
		return rope{}, err
	}
	s.tickets.seen(r.conn, r.owner())
	ctx := s.life
	if name == "findAndModify" { // it may draw a ticket
		ctx = s.drawing
	}
	if ms, ok := r.body.Get("maxTimeMS").Int(); ok && ms > 0 && ms < 1<<31 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	return cmd.run(s, ctx, r)
}

// check returns an error for a command that is not allowed before the login, is for another
// database, or has unknown options.
func (s *Server) check(r *request, cmd command) error {
	name, _ := r.body.First()
	if name != "insert" && len(r.whole) > maxCommand {
		return badValue.saying("%s: got %d bytes, want at most %d", name, len(r.whole), maxCommand)
	}
	switch db := r.text("$db"); {
	case r.legacy && name != "ismaster" && name != "isMaster" && name != "hello":
		return commandNotFound.saying("%s as OP_QUERY is not supported: send OP_MSG", name)
	case !r.conn.login.done && !cmd.before:
		return unauthorized.saying("%s needs a login: put user:password@ before the host", name)
	case !cmd.admin && db != s.opt.Database:
		return invalidNamespace.saying("%s: got database %s, want %q, which is the only one", name, errtext.Quote(db), s.opt.Database)
	case len(r.collection()) > maxName:
		return invalidNamespace.saying("%s: got a name of %d bytes, want at most %d", name, len(r.collection()), maxName)
	case cmd.fields == "*":
		return nil
	}
	known := strings.Fields(cmd.fields + " " + everywhere)
	n := 0
	for field := range r.body.All() {
		if n++; n > maxFields {
			return badValue.saying("%s: got more than %d fields", name, maxFields)
		}
		if field != name && !slices.Contains(known, field) {
			return unknownField.saying("%s: option %s is not supported", name, errtext.Quote(field))
		}
	}
	if r.field != "" && (cmd.list == "" || r.field != cmd.list) {
		return unknownField.saying("%s: a sequence %s is not supported", name, errtext.Quote(r.field))
	}
	return nil
}

// success returns the reply of a command that succeeded.
func success(fields ...bson.E) (rope, error) {
	return whole(append(fields, bson.E{"ok", 1.0})), nil
}

func (s *Server) succeed(context.Context, *request) (rope, error) { return success() }

// hello describes the server.
func (s *Server) hello(_ context.Context, r *request) (rope, error) {
	fields := bson.D{
		{"helloOk", true}, {"ismaster", true}, {"isWritablePrimary", true},
		{"maxBsonObjectSize", maxDocument}, {"maxMessageSizeBytes", maxMessage}, {"maxWriteBatchSize", maxDocuments},
		{"logicalSessionTimeoutMinutes", 30}, {"connectionId", int(r.conn.id)},
		{"minWireVersion", 0}, {"maxWireVersion", 21}, {"readOnly", false},
	}
	if r.text("saslSupportedMechs") != "" {
		fields = append(fields, bson.E{"saslSupportedMechs", bson.A{mechanism}})
	}
	if start, is := r.body.Get("speculativeAuthenticate").Doc(); is {
		if answer, err := r.conn.login.start(s.secret, start); err == nil {
			fields = append(fields, bson.E{"speculativeAuthenticate", answer})
		}
	}
	return success(fields...)
}

// currentOp lists the commands that are being answered, except this one.
func (s *Server) currentOp(context.Context, *request) (rope, error) {
	all := bson.A{}
	for range s.active.Load() - 1 {
		all = append(all, bson.D{{"active", true}, {"op", "command"}, {"ns", s.opt.Database + ".$cmd"}})
	}
	return success(bson.E{"inprog", all})
}
