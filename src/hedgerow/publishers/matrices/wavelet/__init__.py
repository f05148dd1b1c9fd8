"""Wavelet perturbation: detail coefficients of a matrix are shrunk."""
