"""The replay benchmark on the application floor: select, collect, score, compare, or all of it."""
