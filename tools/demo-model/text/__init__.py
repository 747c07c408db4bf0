"""Generates the text that the model is trained on."""
