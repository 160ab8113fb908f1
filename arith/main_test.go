package arith_test

import (
	"flag"
	"testing"

	"github.com/go-tensordict/tensordict/arith"
	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		arith.SetMinFold(1 << 14) // tests of several cores need no large tensors
	}
	testkit.Main(m)
}
