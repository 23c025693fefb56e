"""ragstone (RAG + touchstone, 试金石): measures retrieval-augmented generation and says how far each number can be trusted."""

__version__ = "0.1.0"
