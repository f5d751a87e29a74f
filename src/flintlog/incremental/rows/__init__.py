"""A relation of a database: its rows, the round of each before and after an update, and look-ups in them."""
