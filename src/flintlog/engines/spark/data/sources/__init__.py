"""Reads facts from files, tables and the driver into plain frames. Records that do not fit are reported with their
location."""
