"""Tools and conversations that call them."""
