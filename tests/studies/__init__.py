"""Tests of studies with several targets."""
