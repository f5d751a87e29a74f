"""Where a stratum can be evaluated: the columns that its rules keep, the rows they need side by side, the strategy."""
