//! How messages travel: the /mcp endpoint and the client.
