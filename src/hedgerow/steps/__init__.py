"""Parts that several methods share; arrays only, neither data sets nor guarantees."""
