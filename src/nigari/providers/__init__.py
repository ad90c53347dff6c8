"""What a provider is and how to talk to one: plugin programs and Python objects alike."""
