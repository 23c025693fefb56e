"""HTTP to OpenAI-compatible endpoints: addresses and keys, tries and waits, error bodies. Shared by judge and embedder."""
