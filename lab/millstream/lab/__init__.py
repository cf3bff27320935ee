"""Experiments with millstream: a first query, and its speed."""
