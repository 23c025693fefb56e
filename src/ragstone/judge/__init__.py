"""Judges: whatever answers a question with a text."""
