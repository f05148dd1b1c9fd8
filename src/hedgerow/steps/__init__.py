"""Parts that methods and measures share; arrays only, neither data sets nor promises."""
