package mongowire_test

import (
	"flag"
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

// TestMain has more tests run at once than there are processors: they mostly wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	testkit.Main(m)
}
