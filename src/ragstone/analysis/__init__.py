"""What the numbers say: pure, seeded, computed from run folders. Codes and numbers only, no text."""
