"""Steps and aggregates that SQL cannot express: Python functions over Arrow batches, inside tasks."""
