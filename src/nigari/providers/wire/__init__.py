"""The plugin protocols on the wire: messages, method names, and conversion to `nigari` types."""
