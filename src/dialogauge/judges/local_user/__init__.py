"""The judge `local-user`: one Gaussian process over all users, with a part that is each user's own."""
