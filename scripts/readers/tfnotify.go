// Prints what tfnotify reads in the output of a command, as JSON: `make check-tools`.
package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/mercari/tfnotify/terraform"
)

func main() {
	parsers := map[string]terraform.Parser{
		"validate": terraform.NewValidateParser(),
		"plan":     terraform.NewPlanParser(),
		"apply":    terraform.NewApplyParser(),
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	found := parsers[os.Args[1]].Parse(string(text))
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
