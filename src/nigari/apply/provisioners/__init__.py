"""What the built-in provisioners do."""
