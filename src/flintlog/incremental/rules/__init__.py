"""The rules of a database: their text, their form for maintenance, their instances and rounds."""
