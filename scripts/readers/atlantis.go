// Prints what Atlantis reads in the output of a plan or an apply, as JSON: `make check-tools`.
package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/runatlantis/atlantis/server/events/models"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	plan := models.PlanSuccess{TerraformOutput: string(text)}
	found := map[string]any{
		"summary":    plan.Summary(),
		"no changes": plan.NoChanges(),
		"stats":      plan.Stats(),
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
