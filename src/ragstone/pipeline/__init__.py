"""A whole round in one call: collect, evaluate, diagnose, compare, gate, report, export; each step only when its inputs changed."""
