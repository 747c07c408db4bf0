"""The tokenizer, the rows, the model, its training and its files."""
