"""Embedders: whatever turns texts into vectors."""
