"""The nodes and rules of a stratum as SQL over frames of words."""
