"""Kinds of questions: one module a kind, with its prompts in Chinese and English, reply schema and verdict reading."""
