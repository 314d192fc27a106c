"""Turns that start by themselves."""
