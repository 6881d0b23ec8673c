"""The domain types, in the order in which they flow from a file to an answer.  No logic; imports only `dataclass`."""
