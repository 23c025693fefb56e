"""What the analysis found, in words: documents for programs, Markdown for pull requests, HTML for notebooks, blocks for the terminal."""
