"""The agreement study (`agreement`): how far judges agree with people, beside judges that know nothing."""
