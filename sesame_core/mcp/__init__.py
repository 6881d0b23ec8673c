"""Sesame as a server of the Model Context Protocol: the library's calls as tools for agents.

The only code that imports the MCP SDK and what comes with it (the extra `mcp`); `sesame_core.cli` imports it late.
"""
