"""All steps from a gold set to an export as one resumable command, and the index of its runs."""
