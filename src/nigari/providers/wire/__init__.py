"""The plugin protocols on the wire: messages, method names, and their translation to our terms."""
