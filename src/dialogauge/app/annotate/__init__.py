"""`dialogauge annotate`: assignment plans made, ratings imported, and how far raters are."""
