"""Whole files: reading rows, judging and verifying them."""
