"""From a gold set to samples: ask a RAG application every gold question and keep what it answered and retrieved."""
