"""Plans: how needs become requests. One small module a plan."""
