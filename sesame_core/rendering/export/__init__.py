"""A session as a file of its own: a page, Markdown, JSON, and the note that hands it over."""
