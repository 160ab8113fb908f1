package mongowire

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

// mechanism is the only mechanism of logins, RFC 7677.
const mechanism = "SCRAM-SHA-256"

// wrongPause is how long the server takes to refuse a proof.
var wrongPause = time.Second

const rounds = 15_000 // of PBKDF2, as in MongoDB

// A secret is the data of a user and a password that a server keeps.
type secret struct {
	user           string
	salt           []byte
	stored, server []byte // keys
}

// newSecret returns nil if there is no user.
func newSecret(user, password string) *secret {
	if user == "" {
		return nil
	}
	k := &secret{user: user, salt: []byte(rand.Text())}
	salted, err := pbkdf2.Key(sha256.New, password, k.salt, rounds, sha256.Size)
	if err != nil {
		panic(fmt.Sprintf("mongowire: impossible: %v", err)) // lengths are right
	}
	stored := sha256.Sum256(keyed(salted, "Client Key"))
	k.stored, k.server = stored[:], keyed(salted, "Server Key")
	return k
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// A login is the state of a conversation.
type login struct {
	done  bool   // the client is logged in
	known bool   // the user exists
	nonce string // "" unless a conversation has begun
	texts string // the first two messages
}

// sasl answers saslStart and saslContinue.
func (s *Server) sasl(_ context.Context, r *request) (rope, error) {
	l := &r.conn.login
	name, _ := r.body.First()
	step := l.finish
	if name == "saslStart" {
		step = l.start
	}
	answer, err := step(s.secret, r.body)
	if err != nil {
		l.nonce = ""
		if name == "saslContinue" {
			select {
			case <-time.After(wrongPause):
			case <-s.life.Done():
			}
		}
		return rope{}, err
	}
	return success(answer...)
}

// escaped escapes the name of a user as messages do.
var escaped = strings.NewReplacer("=", "=3D", ",", "=2C")

// start answers the first message of a client: its user and nonce.
func (l *login) start(k *secret, doc bson.Doc) (bson.D, error) {
	payload, _ := doc.Get("payload").Bytes()
	got, _ := doc.Get("mechanism").Text()
	first, bare := strings.CutPrefix(string(payload), "n,,")
	user, nonce, cut := strings.Cut(strings.TrimPrefix(first, "n="), ",r=")
	switch {
	case k == nil:
		return nil, wrongLogin.saying("the server has no password: remove user and password from the URI")
	case got != mechanism:
		return nil, wrongLogin.saying("got mechanism %q, want %s", got, mechanism)
	case !bare || !cut || len(nonce) < 8 || len(payload) > 1024 || strings.Contains(nonce, ","):
		return nil, wrongLogin.saying("invalid first message of a login with %s", mechanism)
	}
	l.known = subtle.ConstantTimeCompare([]byte(user), []byte(escaped.Replace(k.user))) == 1
	l.nonce = nonce + rand.Text()
	answer := fmt.Sprintf("r=%s,s=%s,i=%d", l.nonce, base64.StdEncoding.EncodeToString(k.salt), rounds)
	l.texts = first + "," + answer
	return bson.D{{"conversationId", 1}, {"done", false}, {"payload", []byte(answer)}}, nil
}

// finish answers the second message of a client: its proof that it knows the password.
func (l *login) finish(k *secret, doc bson.Doc) (bson.D, error) {
	payload, _ := doc.Get("payload").Bytes()
	if l.done && len(payload) == 0 { // a third message, of drivers that do not skip it
		return bson.D{{"conversationId", 1}, {"done", true}, {"payload", []byte{}}}, nil
	}
	without, proof, _ := strings.Cut(string(payload), ",p=")
	given, err := base64.StdEncoding.DecodeString(proof)
	if k == nil || l.nonce == "" || err != nil || len(given) != sha256.Size || without != "c=biws,r="+l.nonce {
		return nil, wrongLogin.saying("invalid second message of a login with %s", mechanism)
	}
	texts := l.texts + "," + without
	subtle.XORBytes(given, given, keyed(k.stored, texts)) // the key of the client
	stored := sha256.Sum256(given)
	if subtle.ConstantTimeCompare(stored[:], k.stored)&b2i(l.known) != 1 {
		return nil, wrongLogin.saying("wrong user or password")
	}
	l.done, l.nonce = true, ""
	answer := "v=" + base64.StdEncoding.EncodeToString(keyed(k.server, texts))
	return bson.D{{"conversationId", 1}, {"done", true}, {"payload", []byte(answer)}}, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
