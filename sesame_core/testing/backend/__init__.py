"""The conformance tests for storage backends, by subject.  They test through the Protocols only."""
