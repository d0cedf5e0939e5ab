"""Estimators with scikit-learn's contract. Each ``fit`` reads: validate, space, basis, mix, projection."""
