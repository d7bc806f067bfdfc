"""What commands print with `--json`, declared as types: the schemas of `--json-schema` are made of them."""
