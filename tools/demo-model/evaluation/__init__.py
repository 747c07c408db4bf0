"""How good a trained model is, and the references that the server is compared with."""
