"""additive-noise on 1,000,000 x 50: time as a ratio to the floor, and memory."""

from __future__ import annotations

from matrix_floor import compare

if __name__ == "__main__":
    compare("additive-noise")
