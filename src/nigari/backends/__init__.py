"""Where states live and how they are locked; nothing else."""
