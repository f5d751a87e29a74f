"""A rule of a database: its literals, its instances, and the round in which an instance comes."""
