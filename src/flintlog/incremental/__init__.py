"""Databases that keep up: results maintained while facts and rules change."""
