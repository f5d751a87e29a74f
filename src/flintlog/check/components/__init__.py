"""Components: their instances, the scopes of their names, and the mistakes in them."""
