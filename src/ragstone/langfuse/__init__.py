"""Langfuse without its SDK: what a run becomes there, a client on our own HTTP session, and production traces read back."""
