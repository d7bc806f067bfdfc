"""What a reply claims, held against what the tools returned and what was said; English and Chinese."""
