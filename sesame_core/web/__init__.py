"""The page in a browser, the fourth caller: pages, their HTTP API, and who is let in.

Reads requests, calls `api`, renders.  No logic of search, nothing that a page needs from elsewhere.
"""
