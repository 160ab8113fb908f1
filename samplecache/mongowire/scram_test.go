package mongowire_test

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-tensordict/tensordict/samplecache/mongowire"
	"github.com/go-tensordict/tensordict/samplecache/mongowire/internal/bson"
)

const nonce = "n,,n=lab,r=0123456789"

func payload(doc bson.Doc) string {
	b, _ := doc.Get("payload").Bytes()
	return string(b)
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// proof returns the second message of a login, and the signature that the server has to give.
func proof(t *testing.T, password, first, answer string) (second, signature string) {
	parts := strings.Split(answer, ",")
	require.Len(t, parts, 3, answer)
	salt, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(parts[1], "s="))
	require.NoError(t, err)
	rounds, err := strconv.Atoi(strings.TrimPrefix(parts[2], "i="))
	require.NoError(t, err)
	require.GreaterOrEqual(t, rounds, 4096, "RFC 7677")
	salted, err := pbkdf2.Key(sha256.New, password, salt, rounds, 32)
	require.NoError(t, err)
	key := mac(salted, "Client Key")
	stored := sha256.Sum256(key)
	without := "c=biws," + parts[0]
	texts := strings.TrimPrefix(first, "n,,") + "," + answer + "," + without
	subtle.XORBytes(key, key, mac(stored[:], texts))
	return without + ",p=" + base64.StdEncoding.EncodeToString(key), "v=" + base64.StdEncoding.EncodeToString(mac(mac(salted, "Server Key"), texts))
}

// login logs in, and returns the text of the error.
func (c *client) login(t *testing.T, first, password string) string {
	reply := c.do(bson.D{{"saslStart", 1}, {"mechanism", "SCRAM-SHA-256"}, {"payload", []byte(first)}, {"options", bson.D{{"skipEmptyExchange", true}}}}, "")
	if text := firstError(reply); text != "" {
		return text
	}
	second, want := proof(t, password, first, payload(reply))
	reply = c.do(bson.D{{"saslContinue", 1}, {"conversationId", 1}, {"payload", []byte(second)}}, "")
	if text := firstError(reply); text != "" {
		return text
	}
	require.Equal(t, want, payload(reply), "the server knows the password, too")
	return ""
}

// TestLogin logs in with what is right and what is wrong.
func TestLogin(t *testing.T) {
	mongowire.SetWrongPause(t, time.Millisecond)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	c := dial(t, addr)
	require.Contains(t, firstError(c.do(bson.D{{"find", "read.bin"}}, "")), "needs a login")
	require.Contains(t, firstError(c.do(bson.D{{"dropDatabase", 1}}, "")), "needs a login")
	require.Empty(t, firstError(c.do(bson.D{{"ping", 1}}, "")))
	for _, tt := range []struct{ first, password, says string }{
		{nonce, "pen", "wrong user or password"},
		{"n,,n=other,r=0123456789", "pencil", "wrong user or password"},
		{"y,,n=lab,r=0123456789", "pencil", "invalid first message"},
		{"n,,n=lab,r=01", "pencil", "invalid first message"},
		{"n,,n=lab", "pencil", "invalid first message"},
		{"", "pencil", "invalid first message"},
	} {
		require.Contains(t, c.login(t, tt.first, tt.password), tt.says)
		require.Contains(t, firstError(c.do(bson.D{{"find", "read.bin"}}, "")), "needs a login")
	}
	require.Contains(t, firstError(c.do(bson.D{{"saslStart", 1}, {"mechanism", "SCRAM-SHA-1"}, {"payload", []byte(nonce)}}, "")), "want SCRAM-SHA-256")
	for _, second := range []string{"", "c=biws", "c=biws,r=,p=", "c=biws,r=0123456789,p=" + strings.Repeat("A", 43) + "="} {
		require.Contains(t, firstError(c.do(bson.D{{"saslContinue", 1}, {"payload", []byte(second)}}, "")), "invalid second message")
	}
	require.Empty(t, c.login(t, nonce, "pencil"))
	require.Empty(t, firstError(c.do(bson.D{{"saslContinue", 1}, {"payload", []byte{}}}, "")), "a third message of drivers that send one")
	c.put(1, 4)
	require.Contains(t, firstError(dial(t, addr).do(bson.D{{"find", "read.bin"}}, "")), "needs a login", "another connection")
}

// TestLoginNames has a user with the two characters that messages escape, RFC 5802.
func TestLoginNames(t *testing.T) {
	mongowire.SetWrongPause(t, time.Millisecond)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "a=b,c", Password: "pen=,cil"})
	for first, says := range map[string]string{
		"n,,n=a=3Db=2Cc,r=0123456789":     "",
		"n,,n=a=b=2Cc,r=0123456789":       "wrong user or password",
		"n,,n=a=3db=2cc,r=0123456789":     "wrong user or password",
		"n,,n=a=3Db,c,r=0123456789":       "wrong user or password",
		"n,,n=a=3Db=2Cc,m=x,r=0123456789": "wrong user or password",
	} {
		require.Equal(t, says, dial(t, addr).login(t, first, "pen=,cil"), first)
	}
}

// TestLoginsOfUnknownUsers has users that exist and do not: the server asks both for the same work,
// and does the same itself, so that nobody learns the names.
func TestLoginsOfUnknownUsers(t *testing.T) {
	mongowire.SetWrongPause(t, time.Millisecond)
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	ask := func(user string) (salt, says string) {
		c, first := dial(t, addr), "n,,n="+user+",r=0123456789"
		reply := c.do(bson.D{{"saslStart", 1}, {"mechanism", "SCRAM-SHA-256"}, {"payload", []byte(first)}}, "")
		_, salt, _ = strings.Cut(payload(reply), ",s=")
		return salt, c.login(t, first, "wrong")
	}
	salt, says := ask("lab")
	other, same := ask("nobody")
	require.Equal(t, salt, other)
	require.Equal(t, says, same)
	require.NotEmpty(t, says)
}

// TestSpeculativeLogin logs in with hello, as drivers do.
func TestSpeculativeLogin(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	c := dial(t, addr)
	reply := c.do(bson.D{{"hello", 1}, {"saslSupportedMechs", "admin.lab"},
		{"speculativeAuthenticate", bson.D{{"saslStart", 1}, {"mechanism", "SCRAM-SHA-256"}, {"payload", []byte(nonce)}}}}, "")
	require.Contains(t, show(reply), `saslSupportedMechs: {0: "SCRAM-SHA-256"}`)
	answer, ok := reply.Get("speculativeAuthenticate").Doc()
	require.True(t, ok)
	second, _ := proof(t, "pencil", nonce, payload(answer))
	require.Empty(t, firstError(c.do(bson.D{{"saslContinue", 1}, {"conversationId", 1}, {"payload", []byte(second)}}, "")))
	c.put(1, 4)
}

// TestLongMessageBeforeLogin is refused before it is read.
func TestLongMessageBeforeLogin(t *testing.T) {
	_, addr := serve(t, memory(t, pair(t, 4), 1), mongowire.Options{User: "lab", Password: "pencil"})
	c := dial(t, addr)
	b := request(bson.D{{"ping", 1}, {"x", make([]byte, 20<<10)}}, "")
	_, err := c.Write(b[:16])
	require.NoError(t, err)
	_, err = c.receive()
	require.Error(t, err)
}
