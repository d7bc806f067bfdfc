"""What commands print with `--json`: the schemas of `--json-schema` are made of it."""
