"""Sessions of Spark's: which Java, which master, what executors need, how a run is interrupted."""
