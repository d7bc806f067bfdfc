"""What a fit to people's ratings is worth: figures of left-out predictions beside controls."""
