"""Words and facts: tables without behaviour, except for drawing from them."""
