"""Broken inputs by seeded chance, and the readers that must refuse them with an error of ours."""
