"""The sections of a report, each a function of the subject; None where there is nothing to show."""
