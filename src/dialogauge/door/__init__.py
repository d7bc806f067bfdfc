"""What `import dialogauge` offers: reading, judging, running a study, and a run that can be asked."""
