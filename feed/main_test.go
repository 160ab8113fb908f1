package feed_test

import (
	"testing"

	"github.com/go-tensordict/tensordict/internal/test/testkit"
)

func TestMain(m *testing.M) { testkit.Main(m) }
