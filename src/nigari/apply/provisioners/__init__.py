"""The built-in provisioners: local-exec, remote-exec and file."""
