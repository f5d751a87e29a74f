"""The ways to bring a stratum up to date, and the choice between them."""
