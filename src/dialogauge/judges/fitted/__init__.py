"""The judge `fitted`: predicts ratings by a linear model that was fitted to people's votes."""
