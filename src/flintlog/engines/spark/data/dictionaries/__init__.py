"""Plain frames into frames of words and back: the numbers of symbols, records and branches."""
