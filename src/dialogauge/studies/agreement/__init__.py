"""The agreement study (`meta`): how far judges agree with people, beside judges that know nothing."""
