"""What changes while a page is open: an index that is brought up to date, a session that grows."""
