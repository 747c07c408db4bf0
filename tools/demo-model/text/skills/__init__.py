"""What the model learns to do: each skill makes questions and their answers."""
