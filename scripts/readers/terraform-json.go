// Reads the JSON of a command with terraform-json and prints what it holds: `make check-tools`.
package main

import (
	"encoding/json"
	"io"
	"os"

	tfjson "github.com/hashicorp/terraform-json"
)

type checked interface {
	json.Unmarshaler
	Validate() error
}

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var found any
	switch os.Args[1] {
	case "validate":
		found = &tfjson.ValidateOutput{}
	case "version":
		found = &tfjson.VersionOutput{}
	default:
		into := map[string]checked{
			"plan":      &tfjson.Plan{},
			"state":     &tfjson.State{},
			"schemas":   &tfjson.ProviderSchemas{},
			"functions": &tfjson.MetadataFunctions{},
		}[os.Args[1]]
		found = into
	}
	if err := json.Unmarshal(text, found); err != nil {
		panic(err)
	}
	if each, ok := found.(checked); ok {
		if err := each.Validate(); err != nil {
			panic(err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
