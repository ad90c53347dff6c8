// Runs one state migration of tfmigrate in the working directory: `make check-tools`.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/minamijoyo/tfmigrate/tfmigrate"
)

func main() {
	config := tfmigrate.StateMigratorConfig{Actions: os.Args[2:]}
	option := &tfmigrate.MigratorOption{ExecPath: os.Args[1]}
	migrator, err := config.NewMigrator(option)
	if err == nil {
		err = migrator.Apply(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
