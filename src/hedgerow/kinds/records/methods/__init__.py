"""Methods that publish nested records."""
