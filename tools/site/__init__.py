"""What the built site weighs, where its links lead, and a reader's walk through it."""
