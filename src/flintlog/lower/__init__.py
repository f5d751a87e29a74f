"""Checked program -> IR."""
