"""Probes of what an endpoint takes and gives, in few requests, and the settings that follow from it."""
