"""The noisy prefix tree."""
