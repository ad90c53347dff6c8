"""Key providers whose keys are made and kept by a service, a module for each; none knows another."""
