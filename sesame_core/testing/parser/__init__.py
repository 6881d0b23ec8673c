"""The conformance tests for parsers, by subject."""
